"""Command lines of every command, on files that are valid but for one."""

from __future__ import annotations

# One of the words that name valid files is replaced by a damaged one. What is written goes to out/.
PLAIN = """
design subs.csv --algorithm gm --out out/o.parquet
design subs.tsv --algorithm minmax-oda --out out/o.parquet
design subs.parquet --algorithm low-oda --k 3 --out out/o.parquet
design subs.csv.gz --algorithm gpa --max-edges 3 --out out/o.parquet
design ingested --algorithm gm --out out/o.parquet
design roles.csv --algorithm gm --out out/o.parquet
design filters.csv --filters mqtt --algorithm gm --out out/o.parquet
design subs.csv --algorithm gm --fleet fleet.toml --prices prices.csv --out out/o.parquet
design subs.csv --algorithm random-m --max-degree 3 --seed 1 --out out/o.parquet
design subs.csv --algorithm backbone --core-size 3 --out out/o.parquet
measure subs.parquet overlay.parquet --topics out/t.parquet
measure subs.csv overlay.parquet --prices prices.csv --rates rates.csv --fleet fleet.toml
measure ingested overlay.parquet
compare subs.csv --algorithms gm,gpm --max-degree 3
bound subs.parquet --rounds 3
improve subs.csv overlay.parquet --changes 2 --out out/o.parquet
generate --nodes 5 --topics 3 --min-topics 1 --seed 1 --out out/s.parquet
churn subs.csv --rounds 5 --join-share 0.5 --change-share 0.2 --seed 1 --out out/e.jsonl
events subs.csv later.csv --out out/e.jsonl
maintain subs.csv overlay.parquet events.jsonl --out out/o.parquet --trace out/t.parquet
maintain subs.csv overlay.parquet events.jsonl --method naive --coverage 2 --seed 1 --out out/o.parquet
maintain subs.csv overlay.parquet events.jsonl --state state --out out/o.parquet
plan subs.csv overlay.parquet --fleet fleet.toml --out out/p.json
plan subs.csv --fleet fleet.toml --out out/p.json
init a.example.net b=10.0.0.1:1884 --out out/f.toml
plan roles.csv overlay.parquet --fleet fleet.toml --target rabbitmq --out out/p.json
plan subs.csv overlay.parquet --fleet fleet.toml --prices prices.csv --rates rates.csv --relays --out out/p.json
render plan.json --out out/r
render rabbitmq-plan.json --out out/r
render nats-plan.json --out out/r
render plan.json --mode 640 --out out/r
diff plan.json later-plan.json
diff rabbitmq-plan.json rabbitmq-plan.json --json
explain plan.json --topic t/0
explain plan.json --broker n0
lint mosquitto
lint nats --interests subs.csv
import mosquitto --out out/o.parquet
import rabbitmq --kind rabbitmq --out out/o.parquet
import nats --kind nats --out out/o.parquet
collect --fleet collect.toml --out out/c
apply plan.json --fleet fleet.toml --state applied --dry-run
apply later-plan.json --fleet fleet.toml --state applied --yes
watch --fleet fleet.toml --state out/w --subs subs.csv --events events.jsonl --no-health --once
content generate --users 4 --brokers 2 --channels 3 --seed 1 --out out/n
content assign net --algorithm packing --out out/a.parquet
content assign net --algorithm clustering --seed 1 --out out/a.parquet
content compare net --algorithms packing,random
content cost net assignment.parquet
report subs.csv overlay.parquet --out out/p.html
report trace.parquet topics.parquet --out out/p.html
report net assignment.parquet --out out/p.html
""".strip().splitlines()

SPARK = """
spark ingest subs.csv --out out/i
spark ingest subs.csv.gz --max-bad 0.5 --out out/i
spark ingest subs.parquet --out out/i
spark measure ingested overlay.parquet --topics out/t.parquet
spark profile ingested --out out/p
spark sample ingested --nodes 3 --uniform --seed 1 --out out/s
spark sweep sweep.toml --out out/g
spark stream subs.csv overlay.parquet --events stream-events --state out/st --out out/so --once
""".strip().splitlines()
