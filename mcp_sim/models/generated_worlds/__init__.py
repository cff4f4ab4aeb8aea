"""How are the records of a fictional world invented: by a language model, held to schemas and links, or without one?"""
