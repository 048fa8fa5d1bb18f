"""Applications for the demo: one at every broker of a fleet file, subscribed until it is ended."""

import sys
import time
from pathlib import Path

import paho.mqtt.client as mqtt

from topicloom.brokers import read_fleet

TOPICS = (["news", "alarms"], ["news", "weather"], ["alarms", "weather"])

clients = []
for number, broker in enumerate(read_fleet(Path(sys.argv[1])).brokers.values()):
    client = mqtt.Client(mqtt.CallbackAPIVersion.VERSION2, f"application-{broker.name}", clean_session=False)
    client.reconnect_delay_set(1, 2)
    wanted = [(topic, 1) for topic in TOPICS[number % len(TOPICS)]]
    client.on_connect = lambda client, *_, wanted=wanted: client.subscribe(wanted)
    client.connect(broker.host, broker.port)
    client.loop_start()
    clients.append(client)
while True:
    time.sleep(1)
