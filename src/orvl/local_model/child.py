"""The process that runs the weights: xllamacpp's own HTTP server, set up to give the same answer every time."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from orvl.local_model.weights import LIBRARY
from orvl.worker.child_process import serve

SEED = 1
MAX_TOKENS = 1024

_servers: list[Any] = []
"""Keeps the server, which ends when nobody holds it."""


def start(settings: dict[str, Any]) -> dict[str, str]:
    """Loads the weights and listens: the address, or why there is none."""
    try:
        library = import_module(LIBRARY)
        params = library.CommonParams()
        _make_repeatable(params, settings["threads"], settings["context"])
        params.model.path, params.model_alias = settings["path"], {settings["name"]}
        params.hostnames, params.port, params.n_threads_http = ["127.0.0.1"], settings["port"], 2
        params.api_keys, params.n_predict = [settings["key"]], MAX_TOKENS
        params.ui = params.endpoint_slots = params.endpoint_props = params.endpoint_metrics = False
        params.offline, params.verbosity = True, 1
        _servers.append(library.Server(params))
    except Exception as error:  # noqa: BLE001 - a native library may raise anything
        return {"error": str(error) or type(error).__name__}
    return {"url": str(_servers[0].listening_address)}


def _make_repeatable(params: Any, threads: int, context: int) -> None:
    """One question at a time, nothing kept of the one before, and always the likeliest token."""
    params.n_ctx, params.n_parallel, params.n_gpu_layers = context, 1, 0
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = threads
    params.cache_prompt, params.cache_ram_mib, params.n_ctx_checkpoints = False, 0, 0
    params.cont_batching, params.fit_params, params.warmup = False, False, False
    params.sampling.temp, params.sampling.seed = 0.0, SEED


if __name__ == "__main__":
    serve(start)
