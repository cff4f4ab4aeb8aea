"""The machine of a parcel depot, on which agents work if no files are given."""

REPORT = """#!/bin/bash
# Counts the errors of the day.
set -e
log=/var/log/depot/api.log
count=$(grep -c ERROR "$log")
echo "$count" > /srv/depot/report.txt
echo "report written: $count errors"
"""
SERVER = '''"""Plan the rounds of the depot."""

from http.server import HTTPServer

from planner import Handler

HTTPServer(("", 8080), Handler).serve_forever()
'''
PLANNER = '''"""Answer requests for rounds."""

from http.server import BaseHTTPRequestHandler


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"ok")
'''
LOG = """2029-03-01 07:58:02 INFO start pid=412
2029-03-01 07:58:03 INFO listening on 8080
2029-03-01 08:02:17 ERROR timeout host=db1 ms=3000
2029-03-01 08:02:20 INFO retry host=db1
2029-03-01 08:11:40 ERROR timeout host=db1 ms=3010
2029-03-01 08:30:05 WARN /var/log is 96% full
2029-03-01 08:44:59 ERROR refused host=db2 ms=4
2029-03-01 08:51:33 ERROR timeout host=db1 ms=3004
2029-03-01 08:59:10 INFO 214 rounds planned
"""
CONF = "port=8080\ndatabase=db1\ntimeout_ms=3000\n"
NOTES = """# Depot planner

Plans the rounds of the parcel depot of Zeist. Restart after a change of `depot.conf`: `systemctl restart depot`.
Logs are in `/var/log/depot`; `app.log.1` and older ones are rotated, and may be deleted when the partition is full.
"""
ROTATED = "2029-02-28 23:59:59 INFO round planned stops=17 km=48.5 driver=ada vehicle=van-03 ms=88\n"

MACHINE = {
    "files": [
        {"path": "/srv/depot/README.md", "text": NOTES, "mtime": "2029-01-08T10:12:00Z"},
        {"path": "/srv/depot/depot.conf", "text": CONF, "mode": "640", "mtime": "2029-02-02T16:40:00Z"},
        {"path": "/srv/depot/server.py", "text": SERVER, "mtime": "2029-01-08T10:12:00Z"},
        {"path": "/srv/depot/planner.py", "text": PLANNER, "mtime": "2029-01-08T10:12:00Z"},
        {"path": "/srv/depot/bin/report.sh", "text": REPORT, "mode": "755", "mtime": "2029-02-19T08:00:00Z"},
        {"path": "/srv/depot/current.log", "target": "/var/log/depot/app.log"},
        {"path": "/var/log/depot/app.log", "text": LOG, "mtime": "2029-03-01T08:59:10Z"},
        {"path": "/var/log/depot/app.log.1", "text": ROTATED, "repeat": 1200, "mtime": "2029-02-28T23:59:59Z"},
        {"path": "/var/log/depot/app.log.2", "text": ROTATED, "repeat": 1300, "mtime": "2029-02-27T23:59:59Z"},
    ],
    "services": {
        "cron": {"pid": 371, "command": "/usr/sbin/cron -f"},
        "depot": {
            "pid": 412,
            "port": 8080,
            "command": "/usr/bin/python3 /srv/depot/server.py",
            "responses": {"/": "depot planner\n", "/health": '{"status": "ok"}\n'},
        },
        "ssh": {"pid": 388, "port": 22, "command": "/usr/sbin/sshd -D"},
    },
    "partitions": {
        "/": {"device": "/dev/vda1", "size": 20509264, "used": 3117568},
        "/var/log": {"device": "/dev/vdb1", "size": 256, "used": 256},
    },
}
