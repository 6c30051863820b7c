// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Asks a server of the Model Context Protocol with the protocol's own TypeScript SDK.
//
// node ask.mjs URL                   over HTTP
// node ask.mjs -- COMMAND ARGS...    a program, over its standard input and output
//
// Each line of standard input is a call, {"name": ..., "arguments": {...}}; each line of the output is its answer. The first line of the output
// has the server's name and the names of its tools.
import {createInterface} from "node:readline";
import {Client} from "@modelcontextprotocol/sdk/client/index.js";
import {StdioClientTransport} from "@modelcontextprotocol/sdk/client/stdio.js";
import {StreamableHTTPClientTransport} from "@modelcontextprotocol/sdk/client/streamableHttp.js";

const [where, command, ...args] = process.argv.slice(2);
const transport = where === "--" ? new StdioClientTransport({command, args}) : new StreamableHTTPClientTransport(new URL(where));
const client = new Client({name: "weft-e2e", version: "1"});
await client.connect(transport);
const {tools} = await client.listTools();
console.log(JSON.stringify({server: client.getServerVersion().name, tools: tools.map((tool) => tool.name)}));
for await (const line of createInterface({input: process.stdin})) {
  const {isError = false, content} = await client.callTool(JSON.parse(line));
  console.log(JSON.stringify({failed: isError, text: content.map((part) => part.text).join("")}));
}
await client.close();
