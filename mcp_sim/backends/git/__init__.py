"""What do tools of version control work on, and what do they do: files, what is staged of them, commits, branches?"""
