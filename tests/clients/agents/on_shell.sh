#!/usr/bin/env bash
# An agent as a shell script, with curl and jq instead of an MCP library: on_shell.sh SCRIPTS
#
# It makes the calls of the script for its task. It looks before it repeats a write that has failed.
set -euo pipefail
tries=4

program='
def words: [splits("\\s+")] | map(select(. != "")) | join(" ");
def filled($kept): walk(
  if type != "string" then .
  else (capture("^\\{(?<name>\\w+)\\}$") // {}) as $alone
    | if $kept | has($alone.name // "") then $kept[$alone.name]
      else reduce ($kept | to_entries[]) as $one (.; gsub("\\{\($one.key)\\}"; $one.value | tostring)) end
  end);
def at($path): getpath($path | split(".") | map(tonumber? // .));
def value($prose): .result | if .isError then null
  else .structuredContent // (.content[0].text // "" | . as $text | fromjson? // if $prose then $text else null end) end;
def request: {
  jsonrpc: "2.0", id: 1, method: "tools/call", params: {name: .tool, arguments: .arguments, _meta: {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {name: "shell", version: "1"},
    "io.modelcontextprotocol/clientCapabilities": {}}}};
'

q() { jq -c "${@:1:$#-1}" "$program ${!#}"; }

config=$(jq -c .mcpServers "$MCP_SIM_CONFIG")
script=$(q --arg task "$MCP_SIM_TASK" '.[] | select((.task | words) == ($task | words))' < "$1")
prose=$(jq 'any(.steps[]; .check.shows // [] | length > 0)' <<< "$script")
kept='{}'
declare -A writes reads

start() { # SERVER: start the command of a server, once, with pipes to and from it
    local server=$1 folder=$MCP_SIM_DIR/$1 command
    [[ -z ${writes[$server]:-} ]] || return 0
    mapfile -t command < <(jq -r --arg name "$server" '.[$name] | .command, .args[]' <<< "$config")
    mkdir "$folder" && mkfifo "$folder/in" "$folder/out"
    "${command[@]}" < "$folder/in" > "$folder/out" &
    exec {to}> "$folder/in" {from}< "$folder/out"
    writes[$server]=$to reads[$server]=$from
}

ask() { # SERVER REQUEST: print the response
    local server=$1 request=$2 url line
    url=$(jq -r --arg name "$server" '.[$name].url // ""' <<< "$config")
    if [[ -n $url ]]; then
        curl -sS "$url" -H 'content-type: application/json' -H 'accept: application/json, text/event-stream' \
            -H 'mcp-protocol-version: 2026-07-28' -H 'mcp-method: tools/call' \
            -H "mcp-name: $(jq -r .params.name <<< "$request")" -d "$request"
        return
    fi
    printf '%s\n' "$request" >&"${writes[$server]}"
    while read -r -u "${reads[$server]}" line; do
        [[ $(jq '.id' <<< "$line") != 1 ]] || break
    done
    printf '%s\n' "$line"
}

call() { # CALL: make a call, and set `value` to the value of its answer, null for an error
    local server tool
    tool=$(jq -r .call <<< "$1")
    server=$([[ $tool == */* ]] && echo "${tool%%/*}" || jq -r 'keys[0]' <<< "$config")
    jq -e --arg name "$server" '.[$name].url' <<< "$config" > /dev/null || start "$server"
    value=$(ask "$server" "$(q --argjson kept "$kept" --arg tool "${tool##*/}" \
        '{tool: $tool, arguments: (.arguments | filled($kept))} | request' <<< "$1")" | q --argjson prose "$prose" 'value($prose)')
}

keep() { # CALL VALUE: keep the named values
    kept=$(q -n --argjson kept "$kept" --argjson call "$1" --argjson value "$2" \
        '$kept + ($call.keep | map_values(. as $path | $value | at($path)))')
}

is_done() { # CHECK: look for what a write has left, and keep values of it
    local _ row
    for ((_ = 0; _ < tries; _++)); do
        call "$1"
        [[ $value == null ]] || break
    done
    row=$(q -n --argjson kept "$kept" --argjson check "$1" --argjson value "$value" '
        ($check.where | filled($kept)) as $where | ($check.shows | filled($kept)) as $shows
        | if $shows | length > 0 then
            ([$value | .. | strings] | join("\n")) as $text
            | if all($shows[]; . as $shown | $text | contains($shown)) then {} else null end
          else first($value | at($check.rows) | if type == "array" then .[] else . end
            | select(type == "object" and . + $where == .)) // null end')
    [[ $row != null ]] && keep "$1" "$row"
}

while read -r step <&3; do
    check=$(jq -c '.check' <<< "$step")
    for ((try = 0; try < tries; try++)); do
        call "$step"
        if [[ $value != null ]]; then
            keep "$step" "$value"
            break
        fi
        [[ $check == null ]] || ! is_done "$check" || break
    done
done 3< <(jq -c '.steps[]' <<< "$script")
q -r --argjson kept "$kept" '.answer | filled($kept)' <<< "$script"
