#!/usr/bin/env bash
# inspector: an error is a result with `isError`, and exit code 5.
#
#   with_inspector.sh ROUTE URL WORLD [TOOL NAME=VALUE...]

route=$1 url=$2 world=$3 tool=${4:-}
shift $(($# < 4 ? $# : 4))

npx() { command npx "$@" --connect-timeout 120000; } # milliseconds: a busy machine needs more than the usual 15 s

if [[ $route != HTTP ]]; then
    # page: over stdio, a process for every command: one world in the store
    crm="mcp-sim serve flaky_crm --world $world --store worlds.db"
    # page: end
else
    # page: over HTTP
    crm=$url
    # page: end
fi
if [[ -z $tool ]]; then
    # page: then, the list
    npx mcp-inspector --cli $crm --method tools/list
    # page: end
else
    # page: or a call
    npx mcp-inspector --cli $crm --method tools/call --tool-name "$tool" --tool-arg "$@"
    # page: end
fi
