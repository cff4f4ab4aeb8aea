"""Have a language model write a program for a server, and keep of it what passes the gate.

`subject` is what the model writes about, `prompt` what it reads. `trial` runs a program in a process of its own, `gate`
judges it tool by tool, and `rounds` asks, finds the file in the answer, judges, complains and settles.
"""
