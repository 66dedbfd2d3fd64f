internal import EventLog
internal import Events
internal import Foundation
internal import Subledger

/// Something that an agent can ask: a question, a report or a search.
struct AgentTool: Sendable {
    /// Its name in calls.
    let name: String
    /// What it answers.
    let description: String
    /// The JSON Schema of its arguments, by name.
    let schemas: [QueryParameter: JSONTree]
    /// The argument without which it answers nothing; nil if it needs none.
    let required: QueryParameter?
    /// Answers a call.
    let answer: @Sendable (AgentAccess, AgentArguments) async throws -> AgentAnswer

    /// The tool as agents list it.
    var listed: JSONTree {
        var schema: JSONTree = ["type": "object", "additionalProperties": false]
        let properties = schemas.map { ($0.key.rawValue, $0.value) }
        schema["properties"] = .object(Dictionary(uniqueKeysWithValues: properties))
        schema["required"] = .list([required].compactMap { $0.map { .text($0.rawValue) } })
        return [
            "name": .text(name), "description": .text(description), "inputSchema": schema,
            "annotations": ["readOnlyHint": true, "openWorldHint": false],
        ]
    }

    /// The arguments that make an answer smaller.
    var narrowing: [String] {
        let all: [QueryParameter] = [.limit, .product, .group, .alone, .from, .to, .by, .knownAt]
        return all.filter { schemas[$0] != nil }.map(\.rawValue)
    }
}

/// What a tool answers.
struct AgentAnswer: Sendable {
    /// The document that `--json` prints.
    var document: JSONTree
    /// How much of the log it was computed from; nil if nothing names that for ever.
    var knownAt: String?
    /// The id that was answered for, if it is not the one that was asked for.
    var answeredFor: String?
    /// Who the document is about; nil if it is about no one in particular.
    var subject: SubjectID?
    /// Entries of lists that were left out already, by the name of the list.
    var leftOut: [String: Int64] = [:]
}

extension AgentTool {
    /// The tool of a question.
    init<Asked: Question>(_ question: Asked.Type) {
        name = Asked.name
        description = Asked.abstract + "\n\n" + Asked.discussion
        var schemas = Self.ofSubject
        schemas[.at] = .schema("\(Asked.meaningOfAt) Accepts \(AskedTime.forms).")
        schemas[.alone] = ["type": "boolean", "description": .text(SubjectID.meaningOfAlone)]
        for (parameter, words) in Asked.parameters {
            guard let name = QueryParameter(rawValue: parameter.rawValue) else { continue }
            var schema = JSONTree.schema(words)
            if let accepted = parameter.words { schema["enum"] = .list(accepted.map { .text($0) }) }
            schemas[name] =
                Asked.repeated.contains(parameter)
                ? ["type": "array", "items": schema, "description": .text(words)] : schema
        }
        self.schemas = schemas
        required = .id
        answer = { access, arguments in try await access.answer(question, arguments) }
    }

    /// Finds what a pasted id means.
    static let search = AgentTool(
        name: "search",
        description: """
            What an id means, as somebody pasted it: the subscriptions of its customer, and who \
            had each of them when. White space, quotation marks and brackets around the id are left \
            out, a UUID may lack its hyphens, and it may be the order id of an invoice.
            """,
        schemas: ofSubject.merging([
            .at: .schema(
                "Also list the subscriptions that the customer had then. Accepts "
                    + "\(AskedTime.forms)."
            )
        ]) { $1 },
        required: .id,
        answer: { access, arguments in try await access.found(arguments) }
    )

    /// The list of reports, with what each counts.
    static func reports(_ reports: [Report]) -> AgentTool {
        AgentTool(
            name: "reports",
            description: "The reports, what each counts, and what it can be broken down by.",
            schemas: [:],
            required: nil,
            answer: { _, arguments in
                try arguments.check([])
                return AgentAnswer(document: try JSONTree(ReportListDocument(of: reports)))
            }
        )
    }

    /// A report by its name.
    static func report(_ reports: [Report]) -> AgentTool {
        var schemas = ReportQuestion.parameters.reduce(into: [:]) { $0[$1] = Self.described($1) }
        schemas[.limit] = limit
        schemas[.name] = .schema("The report; the tool reports explains each.")
        schemas[.name]?["enum"] = .list(reports.map { .text($0.name) })
        return AgentTool(
            name: "report",
            description: """
                A report over all customers, by its name. It reads tables that follow the log; with \
                knownAt it folds the log up to there, which takes longer.
                """,
            schemas: schemas,
            required: .name,
            answer: { access, arguments in try await access.report(arguments, among: reports) }
        )
    }

    // Who is asked about, and how much of the log counts.
    private static let ofSubject: [QueryParameter: JSONTree] = [
        .id: .schema(SubjectID.forms), .knownAt: described(.knownAt),
        .environment: described(.environment), .tz: described(.tz), .limit: limit,
    ]

    private static let limit: JSONTree = [
        "type": "integer", "minimum": 1, "maximum": .integer(Int64(AgentArguments.limitMax)),
        "description": .text(
            "The most rows, or entries of each list. Default: \(AgentArguments.limitDefault)."
        ),
    ]

    // A parameter as /openapi.json describes it.
    private static func described(_ name: QueryParameter) -> JSONTree {
        guard let words = descriptions[name.rawValue] else {
            preconditionFailure("openapi.json does not describe \(name)")
        }
        return .schema(words)
    }

    private static let descriptions: [String: String] = {
        struct Description: Decodable {
            let components: Components

            struct Components: Decodable { let parameters: [String: Parameter] }
            struct Parameter: Decodable { let description: String? }
        }
        do {
            let file = Data(embeddedFile("openapi.json"))
            let components = try JSONDecoder().decode(Description.self, from: file).components
            return components.parameters.compactMapValues(\.description)
        } catch {
            preconditionFailure("openapi.json: \(error)")
        }
    }()
}

extension JSONTree {
    /// The schema of a text with this description.
    fileprivate static func schema(_ description: String) -> JSONTree {
        ["type": "string", "description": .text(description)]
    }
}
