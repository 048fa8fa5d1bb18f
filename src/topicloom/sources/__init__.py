"""Where interests come from: running brokers are asked who subscribes and publishes what. See docs/collect.md.

- `collect`: Asking all brokers of a fleet.
- `fleet_changes`: Following a fleet: asking again and again, and the events that it comes to.
- `collected`: What was collected, in one file, and how far each broker was read.
- `events_log`: Events that are told as they are seen.
- `broker_rows`: What one broker tells.
- `mosquitto_log`: Mosquitto's log; `log_files` reads its files, `log_text` cuts them into lines, `mosquitto_lines`
  says what lines say, and `mosquitto_sessions` who is subscribed after them.
- `nats_monitor`: The monitoring port of NATS.
- `rabbitmq_api`: RabbitMQ's management interface, and files of definitions.
- `emqx_api`: EMQX's REST interface.
- `http_json`: Asking over HTTP, with limits.
- `source_error`: The exception for a broker that does not tell what it is asked.
"""

from topicloom.sources.collect import Collection, collect
from topicloom.sources.collected import Collected
from topicloom.sources.fleet_changes import Look, fleet_changes, interest_of

__all__ = ["Collected", "Collection", "Look", "collect", "fleet_changes", "interest_of"]
