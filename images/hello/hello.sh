# Greets whoever the message names, and says what this container was told about itself.
echo "Hello, ${MSG:-you with the large message}!"
echo "This is execution $_svc_execution_id of reactor ${_svc_actor_name:-$_svc_actor_id}, run for $_svc_username."
