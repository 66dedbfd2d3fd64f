import CommandSupport
import ArgumentParser
import Events
import Subledger

/// The subject of a question: the same for every question.
struct SubjectOptions: ParsableArguments {
    @Argument(
        help: ArgumentHelp(
            "Any id of the subscription or of its customer.",
            discussion: SubjectID.forms
        )
    )
    var id: String

    @Option(
        help: ArgumentHelp(
            "Where the purchases were made: Production, Sandbox, Xcode or LocalTesting.",
            discussion: """
                Default: the environment in which ID is known; required if there are several. \
                `access` and `eligibility` default to Production, so test purchases never count \
                by accident. `charges` and `explain` ask Production first; if only one other \
                environment knows ID, they answer for that one, and say so.
                """,
            valueName: "word"
        ),
        transform: SubjectOptions.environment
    )
    var environment: StoreEnvironment?

    func validate() throws {
        guard !id.isEmpty else { throw ValidationError("the id is empty") }
    }

    /// The subject.
    var subject: SubjectID { subject(alone: false) }

    /// The subject, or a single subscription of it.
    func subject(alone: Bool) -> SubjectID { SubjectID(id, in: environment, alone: alone) }

    // Apple's words in any letter case, and any other word that the ledger contains.
    static func environment(_ word: String) throws -> StoreEnvironment {
        guard !word.isEmpty else {
            throw ValidationError("--environment is empty; leave it out, or name one")
        }
        return StoreEnvironment.inAnyCase(word)
    }
}

/// Whether a question about a customer is about a single subscription.
struct AloneOption: ParsableArguments {
    @Flag(help: "\(SubjectID.meaningOfAlone)")
    var alone = false
}

extension Ledger {
    /// The subject that an id means, as it was pasted; says on stderr if it is read otherwise.
    func subject(_ pasted: SubjectID, isQuiet: Bool = false) async throws -> SubjectID {
        let subject = try await recognised(pasted)
        if subject != pasted, !isQuiet {
            Terminal.write("nothing has the id \"\(pasted.id)\"; answered for \(subject.id)")
        }
        return subject
    }
}
