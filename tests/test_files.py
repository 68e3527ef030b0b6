"""Output files: old content or new, links kept, devices and pipes written to."""

import os
import resource
import socket
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from phist.errors import OutputError
from phist.files import atomic_path, write_json


def write(target, text="new"):
    with atomic_path(target) as temporary:
        temporary.write_text(text)


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_a_file_is_written_and_nothing_is_left_beside_it(tmp_path):
    write(tmp_path / "below" / "file")
    assert (tmp_path / "below" / "file").read_text() == "new"
    assert names(tmp_path / "below") == ["file"]


def test_a_failure_leaves_the_old_content(tmp_path):
    (tmp_path / "file").write_text("old")
    with pytest.raises(RuntimeError), atomic_path(tmp_path / "file") as temporary:
        temporary.write_text("half")
        raise RuntimeError
    assert (tmp_path / "file").read_text() == "old"
    assert names(tmp_path) == ["file"]


def test_a_link_stays_and_its_target_is_replaced(tmp_path):
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "file").write_text("old")
    (tmp_path / "link").symlink_to("there/file")
    write(tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "there" / "file").read_text() == "new"


def test_a_link_to_nothing_stays_and_gets_its_target(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "file")
    write(tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "file").read_text() == "new"


def test_a_pipe_is_written_to(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    received = []
    reader = threading.Thread(target=lambda: received.append((tmp_path / "pipe").read_text()), daemon=True)
    reader.start()
    write(tmp_path / "pipe")
    reader.join(10)
    assert received == ["new"]
    assert (tmp_path / "pipe").is_fifo()


def test_a_socket_is_written_to(tmp_path):
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "socket"))
        server.listen()
        write(tmp_path / "socket")
        connection, _ = server.accept()
        with connection:
            assert connection.recv(10) == b"new"
    assert (tmp_path / "socket").is_socket()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make a device, and only root could destroy one")
def test_a_device_is_written_to(tmp_path):
    os.mknod(tmp_path / "null", 0o666 | stat.S_IFCHR, os.makedev(1, 3))
    write(tmp_path / "null")
    assert (tmp_path / "null").is_char_device()


def test_a_terminal_is_written_to():
    ours, theirs = os.openpty()
    write(os.ttyname(theirs))
    assert os.read(ours, 10) == b"new"
    for descriptor in (ours, theirs):
        os.close(descriptor)


def test_an_open_file_is_appended_to_by_its_number(tmp_path):
    code = "import test_files; print('before', flush=True); test_files.write('/dev/stdout'); print('after')"
    with (tmp_path / "output").open("a") as output:
        subprocess.run([sys.executable, "-c", code], cwd=Path(__file__).parent, stdout=output, check=True)
    assert (tmp_path / "output").read_text() == "before\nnewafter\n"


@pytest.mark.skipif(sys.platform != "linux", reason="/dev/full is Linux's")
def test_a_full_device_is_an_output_error():
    with pytest.raises(OutputError, match="/dev/full: No space left on device; free some space"):
        write("/dev/full")


def test_a_full_disk_is_an_output_error_and_leaves_the_old_content(tmp_path):
    (tmp_path / "file").write_text("old")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, limits[1]))
    try:
        with pytest.raises(OutputError, match="free some space"):
            write(tmp_path / "file", "x" * 5000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert (tmp_path / "file").read_text() == "old"
    assert names(tmp_path) == ["file"]


def test_a_folder_is_not_replaced_by_a_file(tmp_path):
    (tmp_path / "folder").mkdir()
    with pytest.raises(OutputError, match="it is a folder"):
        write(tmp_path / "folder")
    assert names(tmp_path) == ["folder"]


@pytest.mark.parametrize(("mask", "mode"), [(0o022, 0o644), (0o077, 0o600), (0o002, 0o664)])
def test_a_new_file_follows_the_umask(tmp_path, mask, mode):
    before = os.umask(mask)
    try:
        write_json(tmp_path / "file", {})
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "file").stat().st_mode) == mode


def test_a_replaced_file_keeps_its_permissions(tmp_path):
    (tmp_path / "secret").write_text("old")
    (tmp_path / "secret").chmod(0o600)
    write(tmp_path / "secret")
    assert stat.S_IMODE((tmp_path / "secret").stat().st_mode) == 0o600


@pytest.mark.parametrize("name", ["a" * 255, "ä" * 127])
def test_a_name_may_be_as_long_as_the_file_system_allows(tmp_path, name):
    write(tmp_path / name)
    assert names(tmp_path) == [name]
