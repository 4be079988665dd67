# Writes the message back as it came, byte for byte. What it is goes to standard error, so that the two can be told apart.
echo "content type: $_svc_Content_Type" >&2
if [ -n "$_svc_message_file" ]; then
  # Bytes, and text that is too long for a variable, come as a file.
  cat "$_svc_message_file"
else
  printf '%s' "$MSG"
fi
