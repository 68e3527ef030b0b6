"""phist serve, as a process of its own: it answers, and stops when it is told to."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import urllib.request

import pytest

posix = pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGTERM to send to a process")


def ask(address, path, content):
    body = json.dumps(content).encode()
    request = urllib.request.Request(address + path, body, {"content-type": "application/json"})
    with urllib.request.urlopen(request, timeout=60) as response:
        return json.load(response)


@pytest.fixture
def server(model):
    command = [sys.executable, "-m", "phist", "serve", str(model), "--port", "0"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    address = re.search(r"http://[\d.:]+", process.stderr.readline())[0]
    yield process, address
    process.kill()
    process.wait()


@posix
def test_a_server_answers_and_stops_gracefully(server):
    process, address = server
    edges = [[number, number + 1] for number in range(100)]
    answers = []
    asking = threading.Thread(target=lambda: answers.append(ask(address, "/explain", {"graphs": [{"edges": edges}]})))
    asking.start()
    while json.load(urllib.request.urlopen(address + "/health"))["waiting"] == 0 and asking.is_alive():
        pass
    process.send_signal(signal.SIGTERM)
    asking.join(60)
    assert answers[0]["explanations"][0]["n_nodes"] == 101
    assert process.wait(30) == 0
    assert "stopped" in process.stderr.read()


def test_a_port_in_use_is_refused(refused, model):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        assert "cannot listen on 127.0.0.1" in refused("serve", model, "--port", taken.getsockname()[1])


def test_a_folder_without_a_model_is_refused(refused, tmp_path):
    assert "phist: " in refused("serve", tmp_path, "--port", 0)


def test_an_unknown_engine_is_refused(refused, model):
    assert "'fused'" in refused("serve", model, "--engine", "steam", "--port", 0)
