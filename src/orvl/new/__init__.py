"""What `orvl new` writes: the files of an eval, an agent or a score, and evals made from a repository's commits."""
