import ArgumentParser
import CommandSupport
import Foundation
import Projections

/// The projections to work on.
struct TableOptions: ParsableArguments {
    @Argument(help: "Names of projections. Default: all.")
    var projections: [String] = []

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions
}

/// How tables are built.
struct BuildOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Connections that read and fold at the same time, from 1 to \(jobsMax).",
            discussion: "Default: one per processor, at most 16."
        )
    )
    var jobs: Int?

    /// The most jobs: each has a connection and some megabytes, and uses a processor here and
    /// another in the server; each table is still written by a single connection.
    private static let jobsMax = 16

    func validate() throws {
        if let jobs, !(1...BuildOptions.jobsMax).contains(jobs) {
            throw ValidationError("--jobs must be from 1 to \(BuildOptions.jobsMax), not \(jobs)")
        }
    }

    /// Connections that read and fold.
    var connections: Int {
        jobs ?? min(ProcessInfo.processInfo.activeProcessorCount, BuildOptions.jobsMax)
    }
}

/// How a difference is shown.
struct ComparisonOptions: ParsableArguments {
    @Option(help: "Maximum number of subscriptions to show as samples. Default: 10.")
    var samples: Int?

    @Option(
        help: ArgumentHelp(
            "Write the differences as an HTML page with pictures.",
            valueName: "file"
        )
    )
    var html: String?

    /// Whether no option was given.
    var isEmpty: Bool { samples == nil && html == nil }

    func validate() throws {
        if let samples, !(0...ProjectionDifference.samplesLimit).contains(samples) {
            throw ValidationError(
                "--samples must be from 0 to \(ProjectionDifference.samplesLimit), not \(samples)"
            )
        }
        if html == "-" {
            throw ValidationError("--html needs a file name, because the difference goes to stdout")
        }
    }
}

/// The name of a schema given by the operator.
enum SchemaName {
    // PostgreSQL would accept such names too, but they would be invisible in a list.
    static func checked(_ name: String) throws -> String {
        guard !name.allSatisfy(\.isWhitespace),
            !name.unicodeScalars.contains(where: { $0.properties.generalCategory == .control })
        else {
            throw ValidationError(
                "a schema name must not be blank or contain control characters"
            )
        }
        return name
    }
}
