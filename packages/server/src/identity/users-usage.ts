export const usersUsage = `Usage: reactord users COMMAND [OPTIONS]

  list                      everyone, in the order in which they were made
  show NAME                 one user
  add NAME                  make a user; asks for the password
  passwd NAME               set a new password; ends the user's sessions and logins
  disable NAME              keep the user out; ends its sessions and tokens at once
  enable NAME               let the user in again
  grant NAME GRANT          let the user use an area of the service: reactors
  revoke-grant NAME GRANT   take that back
  role NAME ROLE            give the user a role: admin
  revoke-role NAME ROLE     take that back
  remove NAME               remove the user with everything it owns

Options
  --json                    list, show: as JSON
  --generate                add, passwd: make a password and print it once
  --email, --first-name, --last-name TEXT
                            add: the profile
  --grant, --role NAME      add: give it at once; may be repeated
  --data, --database, --config VALUE
                            where the service keeps its store; also from REACTORD_* and reactord.conf

A password is asked for on a terminal, and otherwise read from standard input, of which it is the first line.
It works while the service runs, which gets to know of a change within two seconds.
Exit codes: 0 done, 1 not done, 2 the command line is wrong.
`;
