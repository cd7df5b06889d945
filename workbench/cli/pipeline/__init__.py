"""The commands of `pipeline`: what there is, what is wrong with it, runs and what came of them."""
