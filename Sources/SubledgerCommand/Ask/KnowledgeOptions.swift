import ArgumentParser
import EventLog
import Subledger

/// How much of the log a question may use.
struct KnowledgeOptions: ParsableArguments {
    @Option(help: Clock.knownAtHelp, transform: Clock.knownAt)
    var knownAt: KnownAt = .latest
}
