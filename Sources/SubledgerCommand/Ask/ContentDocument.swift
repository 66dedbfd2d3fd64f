import CommandSupport
import Events
import Projections

/// The JSON of `access --content`.
struct ContentDocument: Encodable {
    let id: String
    let environment: String
    let at: Int64
    let runs: [[Int64]]
    let issues: [Line]

    /// An issue that was out.
    struct Line: Encodable {
        let name: String
        let publishedAt: Int64
        let unlocked: Bool
        let reason: String?
        let run: [Int64]?

        init(_ verdict: ContentAccess.Verdict) {
            name = verdict.issue.name
            publishedAt = verdict.issue.publishedAt.milliseconds
            unlocked = verdict.unlocked != nil
            reason = verdict.unlocked?.word
            run = verdict.unlocked.map {
                [$0.run.lowerBound.milliseconds, $0.run.upperBound.milliseconds]
            }
        }
    }

    init(_ access: ContentAccess, id: String, environment: Environment, at instant: Instant) {
        self.id = id
        self.environment = environment.word
        at = instant.milliseconds
        runs = access.runs.map { [$0.lowerBound.milliseconds, $0.upperBound.milliseconds] }
        issues = access.issues.map(Line.init)
    }

    /// The same for people.
    static func print(
        _ access: ContentAccess,
        id: String,
        _ environment: Environment,
        at instant: Instant
    ) {
        Terminal.print("\(id) · \(environment) · \(instant.clock) UTC")
        var table = TextTable(["published", "issue", "unlocked", "because"])
        for verdict in access.issues {
            let reason =
                switch verdict.unlocked {
                case .newestAtStart(let run)?:
                    "newest issue when subscribed on \(run.lowerBound.clock)"
                case .published(let run)?:
                    "published while subscribed, \(run.lowerBound.clock) – \(run.upperBound.clock)"
                case nil: ""
                }
            table.add([
                verdict.issue.publishedAt.clock, verdict.issue.name,
                verdict.unlocked == nil ? "no" : "yes", reason,
            ])
        }
        Terminal.print(table.text)
    }
}

extension ContentAccess.Reason {
    /// The word for JSON.
    fileprivate var word: String {
        switch self {
        case .newestAtStart: "newestAtStart"
        case .published: "published"
        }
    }

    /// The run that unlocks.
    fileprivate var run: Range<Instant> {
        switch self {
        case .newestAtStart(let run), .published(let run): run
        }
    }
}
