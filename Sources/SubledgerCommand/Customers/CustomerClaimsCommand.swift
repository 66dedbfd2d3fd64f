import CommandSupport
import ArgumentParser
import Subledger

struct CustomerClaimsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "claims",
        abstract: "Which customer claims which subscription: all links and all changed tokens.",
        discussion: """
            --contested lists only what needs a decision: links that had no effect because another \
            customer had the subscription, until an unlink or a transfer; and app account tokens \
            that an Apple account (a receipt, an appTransactionId) joins to another token: both \
            count as one customer until a link overrules this. To find these tokens, the command \
            looks up the customer of every subscription that has a token.
            """
    )

    @Flag(help: "Only contested links, and tokens that an Apple account joins to another token.")
    var contested = false

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
        let ledger = try await database.openLedger()
        try await AnswerNotes.writeIfEmpty(ledger)
        let printer = StreamedLines(isJSON: output.json)
        try await ledger.forEachClaim(contested: contested, notice: Terminal.write) { claim in
            try printer.print(claim, claim.text)
        }
        await ledger.close()
        if printer.isEmpty, !output.json { Terminal.print("no claims") }
        printer.finish()
    }
}

extension CustomerDocument.Claim {
    /// The claim as text.
    fileprivate var text: String {
        var words = [
            originalTransactionId, environment.word,
            customer.map { "customer \($0)" } ?? "token \(appAccountToken ?? "")",
            "\(from <= .epoch ? "first purchase" : from.clock) → \(to?.clock ?? "–")",
            "#\(position)",
        ]
        if let by { words.append("by \(by)") }
        if let reason { words.append(reason) }
        if let contests { words.append("CONTESTED, held by \(contests)") }
        if !joinedTokens.isEmpty {
            words.append(
                "JOINED by Apple's account to token " + joinedTokens.joined(separator: ", ")
                    + "; to separate them, link each subscription to its customer"
            )
        }
        return words.joined(separator: "  ")
    }
}
