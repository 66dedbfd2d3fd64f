import CommandSupport

extension OutputOptions {
    /// Prints an answer as JSON, or as lines of text.
    func print(_ answer: some Encodable, _ lines: @autoclosure () -> [String]) throws {
        if json {
            try Terminal.print(json: answer)
        } else {
            lines().forEach(Terminal.print)
        }
    }
}
