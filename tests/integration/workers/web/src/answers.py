ANSWER = "first"
