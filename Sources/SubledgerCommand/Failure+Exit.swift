import AppStore
import ArgumentParser
import Catalog
import CommandSupport
import EmbeddedPostgres
import EventLog
import Postgres
import Projector
import Subledger
import SubledgerAppStore

extension Failure {
    /// Writes the lines of an error.
    @TaskLocal static var write: @Sendable (String) -> Void = { Terminal.write($0) }

    /// Prints an error on stderr and returns its exit code.
    static func report(_ error: any Error, of command: any ParsableCommand.Type) -> ExitCode {
        switch error {
        case let code as ExitCode: code
        case let failure as Failure: end(failure.exitCode, failure.message)
        // Errors of the parser itself are wrapped and printed with the usage; this one came later.
        case let error as ValidationError: end(.validationFailure, error.message)
        case let error as EventLogError: end(exitCode(of: error.code), error.description)
        case let error as ProjectorError: end(exitCode(of: error.code), error.description)
        case let error as Rejection: end(Exit.badInput, error.message)
        case let error as CatalogError: end(exitCode(of: error.code), error.description)
        case let error as PolicyError: end(Exit.badInput, error.description)
        case let error as QuestionError: end(exitCode(of: error.code), words(error))
        case let error as ExportError: end(exitCode(of: error.code), error.description)
        case let error as ServerError: end(exitCode(of: error.code), error.description)
        case let error as EmbeddedServerError:
            end(
                error.code == .absent ? Exit.configuration : Exit.unavailable,
                error.description
            )
        case let error as PostgresError:
            end(exitCode(of: error), error.description)
        default: end(command.exitCode(for: error), usage: command.fullMessage(for: error))
        }
    }

    // The parser's output: the requested help, or the error in the arguments.
    private static func end(_ code: ExitCode, usage message: String) -> ExitCode {
        if !message.isEmpty {
            if code.isSuccess {
                Terminal.put(message + "\n")
            } else {
                write(ProcessArguments.withoutPasswords(message))
            }
        }
        return code
    }

    private static func end(_ code: ExitCode, _ message: String) -> ExitCode {
        write("subledger: \(message)")
        return code
    }

    private static func exitCode(of error: PostgresError) -> ExitCode {
        if error.code == .invalidSettings { return Exit.configuration }
        return error.isRetryable ? Exit.unavailable : Exit.internalError
    }

    private static func exitCode(of code: EventLogError.Code) -> ExitCode {
        switch code {
        case .notMigrated, .notUTF8, .schemaTooNew, .schemaTooOld, .migrationEdited,
            .laneCountFixed, .notDistributable, .roleMissing, .temporaryFile, .evidenceFile,
            .clockSkew, .sharedConnection, .invalidSettings:
            Exit.configuration
        case .permissionDenied: Exit.permission
        case .databaseUnavailable, .lanesUnavailable, .catalogTaken, .tooManyConnections, .diskFull:
            Exit.unavailable
        case .queueFull, .tableInUse, .consumerInUse: Exit.tryAgain
        case .malformedLog, .rowsDropped, .cursorNotOfLog, .cursorBeyondLog: Exit.mismatch
        case .tooManyFacts, .tooManyStreams, .sharedPayloads, .consumerOfOtherStream: Exit.badInput
        case .database, .closed: Exit.internalError
        }
    }

    private static func exitCode(of code: QuestionError.Code) -> ExitCode {
        switch code {
        case .unknownId, .emptyLedger, .otherEnvironment, .nothingKnownThen, .erased,
            .unknownProduct, .unknownGroup:
            Exit.notFound
        case .severalEnvironments, .severalSubscriptions, .unknownPosition, .unknownReport,
            .ambiguousId:
            .validationFailure
        case .tooManyEvents: Exit.badInput
        case .tablesNotBuilt: Exit.configuration
        case .tablesNotReady: Exit.tryAgain
        }
    }

    private static func exitCode(of code: ExportError.Code) -> ExitCode {
        switch code {
        case .unknownTable, .unknownPartition, .notKnownAt, .tooManyPartitions, .unfitPartition,
            .foreignFolder, .otherLedger:
            .validationFailure
        case .damagedManifest: Exit.badInput
        case .folderInUse: Exit.tryAgain
        case .noDuckDB: Exit.configuration
        case .fileSystem, .conversionFailed: Exit.internalError
        }
    }

    // The library's message, with the option that helps.
    private static func words(_ error: QuestionError) -> String {
        switch error.code {
        case .unknownId:
            error.message + "; `subledger streams` and `subledger customers list` list those that "
                + "are known"
        case .emptyLedger: error.message + "; " + AnswerNotes.fillingWords
        case .otherEnvironment: error.message + "; name that one with --environment"
        case .severalEnvironments: error.message + "; name one with --environment"
        case .severalSubscriptions:
            error.message + "; ask about one of them by its originalTransactionId"
        case .nothingKnownThen: error.message + "; leave out --known-at for what is known now"
        case .erased: error.message + "; `subledger history ID` lists what is left of it"
        case .unknownProduct, .unknownGroup:
            error.message + ", or import a catalog that contains it (`subledger catalog import`)"
        case .ambiguousId:
            error.message + "; use another id of the purchase that you mean, for example a "
                + "transactionId"
        case .unknownPosition:
            error.message.replacing(/^knownAt/, with: "--known-at")
                .replacing(/^changedSince/, with: "--changed-since")
        case .tooManyEvents: error.message + ": bound it with --known-at"
        case .tablesNotBuilt, .tablesNotReady, .unknownReport: error.message
        }
    }

    private static func exitCode(of code: ServerError.Code) -> ExitCode {
        switch code {
        case .credentials, .address: Exit.configuration
        case .refused: Exit.notFound
        case .rateLimited: Exit.tryAgain
        case .unavailable, .timedOut: Exit.unavailable
        case .answerTooLarge, .answerUnreadable: Exit.badInput
        }
    }

    private static func exitCode(of code: CatalogError.Code) -> ExitCode {
        code == .unreadableVersion ? Exit.mismatch : Exit.badInput
    }

    private static func exitCode(of code: ProjectorError.Code) -> ExitCode {
        switch code {
        case .unknownProjection: ExitCode.validationFailure
        case .log(let code): exitCode(of: code)
        case .databaseUnavailable, .viewsInUse: Exit.unavailable
        case .nothingLive, .nothingReady: Exit.notFound
        case .schemaTaken: ExitCode.validationFailure
        case .logForked, .unreadableCatalog: Exit.mismatch
        case .permissionDenied: Exit.permission
        case .database: Exit.internalError
        }
    }
}
