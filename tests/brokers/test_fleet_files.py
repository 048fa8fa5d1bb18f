"""Fleet files: what they may hold, and what they are told where they are wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from topicloom import Constraints, InputError, Interest, NodeRule, design
from topicloom.brokers import Fleet, make_plan
from topicloom.brokers.fleet_file import fleet_from_tables, read_fleet
from topicloom.model.fleet import Broker, Credentials, Tls

LONG = "h " * 99


def read(tmp_path: Path, text: str) -> Fleet:
    file = tmp_path / "fleet.toml"
    file.write_text(text)
    return read_fleet(file)


def test_everything_a_fleet_file_may_hold(tmp_path: Path) -> None:
    fleet = read(
        tmp_path,
        """
        [defaults]
        port = 8884
        qos = 2
        tls = true
        credentials = { username = "bridge", password_env = "PASSWORD" }

        [brokers.berlin]
        host = "berlin.example.net"

        [brokers."Paris / 2"]
        host = "10.0.0.7"
        port = 1883
        tls = false
        accepts = false
        credentials = { username = "p", password_file = "/run/secrets/paris" }

        [brokers.rome]
        host = "fd00::1"
        tls = { ca_file = "/ca.crt", cert_file = "/c.crt", key_file = "/k.key" }

        [topics."site/alarms"]
        qos = 0
        """,
    )
    login = Credentials("bridge", password_env="PASSWORD")
    assert fleet.brokers == {
        "berlin": Broker("berlin", "berlin.example.net", 8884, Tls(), login),
        "Paris / 2": Broker(
            "Paris / 2", "10.0.0.7", 1883, None, Credentials("p", password_file="/run/secrets/paris"), False
        ),
        "rome": Broker("rome", "fd00::1", 8884, Tls("/ca.crt", "/c.crt", "/k.key"), login),
    }
    assert (fleet.qos, dict(fleet.topic_qos)) == (2, {"site/alarms": 0})


TWO = '[brokers]\na = {host = "h", region = "eu"}\nb = {host = "i"}\n'


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("", "names no brokers; give a table [brokers.NAME] for each, with its host"),
        ("brokers = 3", "brokers must be a table, not 3"),
        ("[brokers]\na = 3", "broker 'a' must be a table, not 3"),
        ("[brokers.a]\nport = 3", "broker 'a': has no host; give its name or address"),
        (
            '[brokers.a]\nhost = "h"\nhots = 1',
            (
                "broker 'a': unknown key 'hots'; known are host, port, kind, tls, credentials, accepts, vhost, "
                "max_links, region"
            ),
        ),
        ('[broker.a]\nhost = "h"', "unknown key 'broker'; known are defaults, brokers, topics, forbid, keep, require"),
        (
            '[defaults]\nhost = "h"',
            (
                "defaults: unknown key 'host'; known are port, kind, tls, credentials, accepts, vhost, max_links, "
                "region, qos, collect, apply"
            ),
        ),
        ('[brokers.a]\nhost = "h h"', "broker 'a': host 'h h' is no name or address of a machine"),
        ('[brokers.a]\nhost = "h\\nx"', "broker 'a': host 'h\\nx' is no name or address of a machine"),
        ('[brokers.a]\nhost = ""', "broker 'a': host '' is no name or address of a machine"),
        ('[brokers.a]\nhost = "-h"', "broker 'a': host '-h' is no name or address of a machine"),
        ('[brokers.a]\nhost = "h"\nport = 0', "broker 'a': port must be a whole number from 1 to 65535, not 0"),
        ('[brokers.a]\nhost = "h"\nport = 65536', "broker 'a': port must be a whole number from 1 to 65535, not 65536"),
        ('[brokers.a]\nhost = "h"\nport = true', "broker 'a': port must be a whole number from 1 to 65535, not True"),
        ('[brokers.a]\nhost = "h"\naccepts = 1', "broker 'a': accepts must be true or false, not 1"),
        (
            '[brokers.a]\nhost = "h"\ntls = "yes"',
            "broker 'a': tls must be true, false or a table with ca_file, cert_file, key_file",
        ),
        (
            '[brokers.a]\nhost = "h"\ntls = { cert_file = "/c" }',
            "broker 'a': tls: cert_file and key_file go together; one is missing",
        ),
        (
            '[brokers.a]\nhost = "h"\ntls = { ca_file = "/c\\nx" }',
            "broker 'a': tls: ca_file must be text of printable characters without spaces around it, not '/c\\nx'",
        ),
        (
            '[brokers.a]\nhost = "h"\ncredentials = { username = "u", password = "p" }',
            (
                "broker 'a': credentials: a password does not belong here; "
                "name what holds it: password_env or password_file"
            ),
        ),
        ('[brokers.a]\nhost = "h"\ncredentials = {}', "broker 'a': credentials: has no username"),
        (
            '[brokers.a]\nhost = "h"\ncredentials = { username = "u" }',
            "broker 'a': credentials: needs password_env or password_file, one of them",
        ),
        (
            '[brokers.a]\nhost = "h"\ncredentials = { username = "u", password_env = "A", password_file = "/f" }',
            "broker 'a': credentials: needs password_env or password_file, one of them",
        ),
        (
            '[brokers.a]\nhost = "h"\ncredentials = { username = "u", password_env = "A B" }',
            "broker 'a': credentials: password_env is no name of a variable; name what holds the password",
        ),
        (
            '[brokers.a]\nhost = "h"\ncredentials = "sup3r-secret!"',
            "broker 'a': credentials must be a table with username, and password_env or password_file",
        ),
        (
            '[brokers.a]\nhost = "h"\ncredentials = { username = "u", password_file = " sup3r-secret!" }',
            ("broker 'a': credentials: password_file must be text of printable characters without spaces around it"),
        ),
        ('[brokers.a]\nhost = "amqp://u:sup3r-secret!@x"', "broker 'a': host is no name or address of a machine"),
        (
            f'[brokers.a]\nhost = "{LONG}"',
            f"broker 'a': host '{'h ' * 39}h… is no name or address of a machine",
        ),
        ('[brokers.a]\nhost = "h"\n[defaults]\nqos = 1.0', "defaults: qos must be 0, 1 or 2, not 1.0"),
        ('[brokers.a]\nhost = "h"\n[topics.t]\nqos = 3', "topic 't': qos must be 0, 1 or 2, not 3"),
        ('[brokers.a]\nhost = "h"\n[topics.t]\nqos = true', "topic 't': qos must be 0, 1 or 2, not True"),
        ('[brokers.a]\nhost = "h"\n[topics.t]', "topic 't': has no qos; give 0, 1 or 2"),
        ('[brokers.a]\nhost = "h"\n[defaults]\nqos = "1"', "defaults: qos must be 0, 1 or 2, not '1'"),
        (
            '[brokers.a]\nhost = "h"\nmax_links = 0',
            "broker 'a': max_links must be a whole number, 1 or more, not 0",
        ),
        (
            '[brokers.a]\nhost = "h"\n[defaults]\nmax_links = 2.5',
            "broker 'a': max_links must be a whole number, 1 or more, not 2.5",
        ),
        (
            '[brokers.a]\nhost = "h"\nregion = " eu"',
            "broker 'a': region must be text of printable characters without spaces around it, not ' eu'",
        ),
        ("forbid = 3\n" + TWO, "forbid must be tables [[forbid]], not 3"),
        (TWO + '[[forbid]]\nregion = ["eu"]', "forbid 1: unknown key 'region'; known are between, regions"),
        (TWO + "[[forbid]]", "forbid 1: give between or regions, with two names"),
        (TWO + '[[keep]]\nbetween = ["a"]', "keep 1: between must be a list of two names, not ['a']"),
        (TWO + '[[keep]]\nbetween = ["a", "c"]', "keep 1: there is no broker 'c'"),
        (TWO + '[[require]]\nregions = ["eu", "us"]', "require 1: unknown key 'regions'; known are between"),
        (
            TWO + '[[forbid]]\nregions = ["eu", "us"]',
            "forbid names the region 'us', which no broker has; known are eu",
        ),
        (
            TWO + '[[keep]]\nbetween = ["a", "b"]\n[[forbid]]\nbetween = ["b", "a"]',
            "keep 'a' - 'b' is not allowed: forbid 'a' - 'b'",
        ),
        (
            '[brokers]\na = {host = "h"}\nb = {host = "i"}\nc = {host = "H"}',
            "brokers 'a' and 'c' are both at H; give each its own host or port",
        ),
        (
            '[defaults]\nport = 1884\n[brokers]\na = {host = "h", tls = true}\nb = {host = "h"}',
            "brokers 'a' and 'b' are both at h:1884; give each its own host or port",
        ),
        (
            '[brokers]\na = {host = "h", vhost = "/"}\nb = {host = "h"}',
            "brokers 'a' and 'b' are both at h; give each its own host or port",
        ),
    ],
)
def test_what_is_wrong_is_said_in_one_line(tmp_path: Path, text: str, wrong: str) -> None:
    with pytest.raises(InputError) as refused:
        read(tmp_path, text)
    assert str(refused.value) == f"{tmp_path}/fleet.toml: {wrong}"


def test_what_links_may_be_built() -> None:
    fleet = fleet_from_tables(
        {
            "defaults": {"max_links": 4, "region": "eu"},
            "brokers": {
                "a": {"host": "h", "max_links": 2, "accepts": False},
                "b": {"host": "i", "region": "us"},
                "c": {"host": "j"},
            },
            "forbid": [{"between": ["c", "a"]}, {"regions": ["us", "us"]}],
            "keep": [{"between": ["b", "a"]}],
            "require": [{"between": ["b", "c"]}],
        }
    )
    assert fleet.constraints == Constraints(
        {"a": NodeRule(2, False, "eu"), "b": NodeRule(4, True, "us"), "c": NodeRule(4, True, "eu")},
        NodeRule(4, True, "eu"),
        forbid=(("a", "c"),),
        forbid_regions=(("us", "us"),),
        keep=(("a", "b"),),
        require=(("b", "c"),),
    )
    assert Constraints.from_text(fleet.constraints.text) == fleet.constraints


def test_brokers_that_share_a_host(tmp_path: Path) -> None:
    fleet = read(
        tmp_path,
        """
        [brokers]
        a = { host = "h", port = 1883 }
        b = { host = "h", port = 1884 }
        c = { host = "h", port = 1883, vhost = "other" }
        d = { host = "h" }
        e = { host = "h", tls = true }
        """,
    )
    assert list(fleet.brokers) == ["a", "b", "c", "d", "e"]


@pytest.mark.parametrize(
    ("target", "port", "tls"), [("mosquitto", 1883, False), ("mosquitto", 8883, True), ("nats", 7422, True)]
)
def test_a_usual_port_that_another_broker_names(target: str, port: int, tls: bool) -> None:
    fleet = fleet_from_tables({"brokers": {"a": {"host": "h", "port": port}, "b": {"host": "h", "tls": tls}}})
    interest = Interest.from_pairs([("a", "t"), ("b", "t")])
    with pytest.raises(InputError, match=rf"^fleet: brokers 'a' and 'b' are both at h:{port}; give each its own"):
        make_plan(interest, design(interest, "gm"), fleet, target=target)
