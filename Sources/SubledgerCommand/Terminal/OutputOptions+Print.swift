import CommandSupport
import Subledger

extension OutputOptions {
    /// Prints an answer as JSON, or as lines of text.
    func print(_ answer: some Encodable, _ lines: @autoclosure () -> [String]) throws {
        try print(answer, lines().map(Block.line))
    }

    /// Prints an answer as JSON, or as text.
    func print(_ answer: some Encodable, _ text: @autoclosure () -> [Block]) throws {
        if json {
            try Terminal.print(json: answer)
        } else {
            text().forEach(Terminal.print)
        }
    }
}
