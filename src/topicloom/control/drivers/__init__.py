"""How a file gets to a broker, and how the broker is told.

- `base`: what a driver is, and what it says when it fails.
- `command_driver`: any commands.
- `folder_driver`: a file on this machine.
- `management_driver`: RabbitMQ's management interface, which takes definitions live.
- `registry`: the driver that a fleet file asks for.
- `ssh_driver`: a file on another machine, by the system's ssh.
- `timed_commands`: commands that end in time, and with this process.
"""
