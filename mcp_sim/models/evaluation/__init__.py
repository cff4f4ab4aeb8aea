"""How good is a language model as a world model, by the measure of a public benchmark?"""
