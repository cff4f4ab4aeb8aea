"""Have a language model write a program for a server, and keep of it what passes the gate.

`subject` is what the model writes about, `prompt` what it reads, `reply` the file in what it answers. `trial` runs a
program in a process of its own, `gate` judges it tool by tool, and `rounds` asks, judges, complains and settles.
"""
