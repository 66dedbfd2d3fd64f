import ArgumentParser
import CommandSupport
import Subledger

/// A command that prints a report over the log.
protocol LogReportCommand: AsyncParsableCommand {
    var database: DatabaseOptions { get }
    var output: OutputOptions { get }
}

extension LogReportCommand {
    /// Refuses the value of an option that is not from 1 to a maximum.
    static func check(_ option: String, _ value: Int, max: Int) throws {
        guard (1...max).contains(value) else {
            throw ValidationError("\(option) is \(value); expected 1 to \(max)")
        }
    }

    /// Asks for a report, and prints it; exit 3 if it lacks what could not be read.
    @discardableResult
    func report<Answer: LogReport>(
        _ ask: (Ledger) async throws -> Answer,
        print: (Answer) throws -> Void
    ) async throws -> Answer {
        let ledger = try await database.openLedger()
        let answer = try await ask(ledger)
        try await AnswerNotes.writeIfEmpty(ledger)
        await ledger.close()
        try print(answer)
        UnreadableStreams.printNote(
            answer.unreadable,
            answer.unreadableStreams,
            "report \(Self._commandName)"
        )
        guard answer.unreadableStreams == 0 else { throw Exit.mismatch }
        return answer
    }
}
