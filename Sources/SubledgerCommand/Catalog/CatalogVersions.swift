import ArgumentParser
import Catalog
import CommandSupport
import EventLog
import Events
import Projections
import Subledger

/// Finds versions of the catalog.
enum CatalogVersions {
    static func read(_ database: DatabaseOptions) async throws -> [CatalogStore.Version] {
        let log = try await database.openLog()
        let versions = try await CatalogStore(log: log).versions()
        await log.close()
        return versions
    }

    /// The version with that number; the newest for nil.
    static func find(
        _ number: Int?,
        in versions: [CatalogStore.Version]
    ) throws -> CatalogStore.Version {
        guard let newest = versions.last else {
            throw Failure(
                Exit.notFound,
                "no catalog was imported; `subledger catalog import FILE` imports one"
            )
        }
        guard let number else { return newest }
        guard let found = versions.first(where: { $0.record.version == number }) else {
            throw Failure(
                Exit.notFound,
                "the catalog has no version \(number); `subledger catalog list` lists the "
                    + "versions from 1 to \(newest.record.version)"
            )
        }
        return found
    }
}
