import ArgumentParser
import CommandSupport
import Events
import Foundation
import Subledger

/// `report close`: the reports of a month, kept so that they can be computed again.
struct CloseReport: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "close",
        abstract: "Write a month's reports to files, and compute them again years later.",
        usage: """
            subledger report close MONTH --out FOLDER [--corrections FOLDER] [--currency EUR]
            subledger report close --verify FOLDER
            """,
        discussion: """
            Writes each report on the tables as CSV and JSON, with its default breakdown, for the \
            days of the month; reports that follow customers from their first payment or \
            purchase on begin with the first purchase. All use what is known now, and nothing that \
            becomes known later. close.json, written last, records the positions, the newest commit of each \
            lane with its digest, the versions of definitions, folds and catalog, and the SHA-256 \
            of each file. checkpoint.json is the document of `subledger checkpoint`. The month \
            must be over: something that Apple signed in the next one must have arrived.

            With --currency, each report on money is also written in that currency, to a file \
            such as revenue-EUR.csv, with the rates known now: those imported later change \
            nothing. --commission adds the estimate of proceeds to that of report revenue; without \
            --currency, its file is revenue-proceeds.csv.

            With --verify, the same files are computed again from the log and compared, byte for \
            byte. Each file that differs is listed, with the reason if it is known. Exit 3 if any \
            differs.

            With --corrections, what became known since an earlier close is added, for the \
            reports on money, in the currencies of that close, by cause: for its month, and for \
            the months that it corrected itself. So each close needs only the one before it, and each correction is \
            listed once.

            The log is folded once, and two or three times for each corrected month.
            """
    )

    @Argument(help: "The month in UTC, such as 2026-10.")
    var month: String?

    @Option(
        help: ArgumentHelp(
            "Write the files to this folder, which must be new or empty.",
            valueName: "folder"
        )
    )
    var out: String?

    @Option(
        help: ArgumentHelp(
            "Add what changed since the close in this folder; repeat for more.",
            valueName: "folder"
        )
    )
    var corrections: [String] = []

    @Option(
        help: ArgumentHelp(
            "Compute the files in this folder again, and compare them.",
            valueName: "folder"
        )
    )
    var verify: String?

    @Flag(help: "Include reports about customers, and the customers behind corrections.")
    var customers = false

    @Option(
        help: "The environment: Production, Sandbox, Xcode or LocalTesting.",
        transform: TrustOptions.environment
    )
    var environment = StoreEnvironment.production

    @OptionGroup var money: MoneyOptions
    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions

    /// The most bytes of a file that is read back.
    private static let fileBytesMax = 1 << 30

    func validate() throws {
        guard (month == nil) == (out == nil), (month == nil) == (verify != nil) else {
            throw ValidationError("name a month and --out FOLDER, or only --verify FOLDER")
        }
        guard verify == nil || corrections.isEmpty && !customers && money.money == ReportMoney()
        else {
            throw ValidationError(
                "--verify computes what the close has: leave out --corrections, --customers, "
                    + "--currency and the other options of money"
            )
        }
    }

    func run() async throws {
        if let verify { return try await check(verify) }
        guard let month, let out else { return }
        var question = CloseQuestion(month: month)
        question.environment = environment
        question.namesCustomers = customers
        question.money = money.money
        question.earlier = try corrections.map(CloseReport.close)
        try CloseReport.checkIsEmpty(out)
        let ledger = try await database.openLedger(isQuiet: output.quiet)
        let close = try await ledger.closeMonth(question) { name, content in
            try CloseReport.makeFolder(out)
            try OutputFile("\(out)/\(name)").write(String(decoding: content, as: UTF8.self))
        }
        await ledger.close()
        try output.print(close, close.text(folder: out))
    }

    private func check(_ folder: String) async throws {
        let close = try CloseReport.close(in: folder)
        let ledger = try await database.openLedger(isQuiet: output.quiet)
        let result = try await ledger.verifyClose(close) { name in
            try CloseReport.content(of: name, in: folder)
        }
        await ledger.close()
        try output.print(result, result.text(folder: folder))
        guard result.ok else { throw Exit.mismatch }
    }

    // The close in a folder.
    private static func close(in folder: String) throws -> CloseDocument {
        let path = "\(folder)/\(CloseDocument.fileName)"
        let bytes = try WholeFile.bytes(of: path, "the close", upTo: fileBytesMax)
        do {
            let close = try JSONDecoder().decode(CloseDocument.self, from: Data(bytes))
            if close.type == CloseDocument.type {
                guard close.isReadable else {
                    throw Failure(
                        Exit.badInput,
                        "\(path) has a format, month, day or position that this program does not "
                            + "know: it was edited, or a newer program wrote it"
                    )
                }
                return close
            }
        } catch is DecodingError {}
        throw Failure(Exit.badInput, "\(path) was not written by `subledger report close`")
    }

    // A file of a close; nil if it is missing.
    private static func content(of name: String, in folder: String) throws -> [UInt8]? {
        guard !name.contains("/") else {
            throw Failure(
                Exit.badInput,
                "the close in \(folder) names a file outside of the folder: \(name)"
            )
        }
        guard FileStatus("\(folder)/\(name)")?.kind == .file else { return nil }
        return try WholeFile.bytes(of: "\(folder)/\(name)", "the file", upTo: fileBytesMax)
    }

    private static func checkIsEmpty(_ folder: String) throws {
        guard let status = FileStatus(folder) else { return }
        let isClosed = FileStatus("\(folder)/\(CloseDocument.fileName)") != nil
        let isEmpty =
            try status.kind == .folder
            && FileManager.default.contentsOfDirectory(atPath: folder).isEmpty
        guard isEmpty else {
            throw ValidationError(
                "\(folder) " + (isClosed ? "has another close" : "is not an empty folder")
                    + ": name a new or empty folder"
            )
        }
    }

    private static func makeFolder(_ folder: String) throws {
        do {
            try FileManager.default.createDirectory(
                atPath: folder,
                withIntermediateDirectories: true
            )
        } catch {
            throw Failure(
                Exit.internalError,
                "\(folder) cannot be created: \(error.localizedDescription); use another path"
            )
        }
    }
}
