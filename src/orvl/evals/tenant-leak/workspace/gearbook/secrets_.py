"""Passwords, and tokens that open something. What is stored of them is never enough to open anything."""

import hashlib
import hmac
import os
import secrets

from gearbook.config import PASSWORD_ROUNDS


def new_token(prefix=""):
    return prefix + secrets.token_urlsafe(24)


def hashed(token):
    return hashlib.sha256(token.encode()).hexdigest()


def password_hash(password):
    salt = os.urandom(12)
    return f"{PASSWORD_ROUNDS}${salt.hex()}${_derived(password, salt, PASSWORD_ROUNDS)}"


def is_password(password, stored):
    rounds, _, rest = stored.partition("$")
    salt, _, wanted = rest.partition("$")
    if not rounds.isdigit() or not wanted:
        return False
    return hmac.compare_digest(_derived(password, bytes.fromhex(salt), int(rounds)), wanted)


def _derived(password, salt, rounds):
    return hashlib.pbkdf2_hmac("sha256", password.encode(), salt, rounds).hex()


def signature(secret, body):
    return hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()


def is_signature(secret, body, given):
    return bool(secret) and hmac.compare_digest(signature(secret, body).encode(), str(given).encode())
