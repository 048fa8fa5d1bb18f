"""Certificates that sign themselves, and password files of Mosquitto, for tests of TLS and logins."""

from __future__ import annotations

import hashlib
import subprocess
from base64 import b64encode
from pathlib import Path

ROUNDS = 101


def certificate(folder: Path, name: str = "own") -> tuple[str, str]:
    """Make a certificate of this machine; return its file and that of its key."""
    made, key = f"{folder}/{name}.pem", f"{folder}/{name}.key"
    kind = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"]
    about = ["-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1,DNS:localhost"]
    files = ["-keyout", key, "-out", made]
    subprocess.run(["openssl", "req", "-x509", *kind, *about, *files], capture_output=True, check=True)
    return made, key


def passwords(folder: Path, user: str, password: str) -> Path:
    """Write a password file as `mosquitto_passwd` does: PBKDF2 with SHA-512."""
    salt = b"0123456789ab"
    hashed = hashlib.pbkdf2_hmac("sha512", password.encode(), salt, ROUNDS)
    file = folder / "passwords"
    file.write_text(f"{user}:$7${ROUNDS}${b64encode(salt).decode()}${b64encode(hashed).decode()}\n")
    return file
