package import Postgres
import Testing

/// The code of the error that the body throws; nil if it throws none.
package func codeOf<R>(_ body: () async throws -> R) async -> PostgresError.Code? {
    do {
        _ = try await body()
        return nil
    } catch let error as PostgresError {
        return error.code
    } catch {
        Issue.record(error)
        return nil
    }
}
