internal import AppStore
import Foundation
public import Projections

/// A policy to be evaluated before it is adopted: a JSON object of a few members, all optional.
///
/// `graceCounts`, `familyCounts`, `reversalIsRetroactive` and `refundIsRetroactive` are true or
/// false (see `AccessPolicy`), `catalogVersion` is the last version of the catalog that counts, 0
/// for none. Omitted members keep their defaults.
public struct PolicyDocument: Codable, Hashable, Sendable {
    /// Whether billing grace gives access; nil for the default.
    public var graceCounts: Bool?
    /// Whether family-shared purchases give access; nil for the default.
    public var familyCounts: Bool?
    /// Whether a reversed refund restores access as if there had been no refund; nil for the
    /// default.
    public var reversalIsRetroactive: Bool?
    /// Whether a refunded purchase never gave access, as if it had never been bought; nil for the
    /// default.
    public var refundIsRetroactive: Bool?
    /// The last version of the catalog that counts, in the order of imports; nil for all.
    public var catalogVersion: Int?

    /// The document of a policy, with every member set except the version of the catalog.
    public init(_ policy: AccessPolicy) {
        graceCounts = policy.graceCounts
        familyCounts = policy.familyCounts
        reversalIsRetroactive = policy.reversalIsRetroactive
        refundIsRetroactive = policy.refundIsRetroactive
    }

    /// The longest document, in bytes: far longer than any with these members needs.
    public static let byteCountMax = 65_536

    /// The policy that changes nothing.
    public init() {}

    /// Parses a document.
    ///
    /// - Parameter json: One JSON object, in UTF-8.
    /// - Throws: `notAPolicy` for anything else, `unknownMember` for a member it does not have,
    ///   `duplicateMember` for a repeated member, `malformed` for a value of another type,
    ///   `tooLarge` above `byteCountMax`.
    public init(json: [UInt8]) throws(PolicyError) {
        guard json.count <= PolicyDocument.byteCountMax else {
            throw PolicyError(
                .tooLarge,
                "the policy has \(json.count) bytes; at most \(PolicyDocument.byteCountMax) are "
                    + "accepted, and a policy needs about a hundred"
            )
        }

        do throws(JSON.Failure) {
            _ = try JSON(json)
        } catch {
            if error.reason == .duplicateName {
                throw PolicyError(
                    .duplicateMember,
                    "the policy contains a member twice (at byte \(error.offset)); name each "
                        + "member once"
                )
            }
        }

        do {
            self = try JSONDecoder().decode(PolicyDocument.self, from: Data(json))
        } catch let error as PolicyError {
            throw error
        } catch {
            throw PolicyError(
                .notAPolicy,
                "not a policy: expected one JSON object, such as {\"graceCounts\":false}"
            )
        }
    }

    /// Decodes the members; an unknown member is an error, because it would silently have no
    /// effect.
    public init(from decoder: any Decoder) throws {
        for name in try decoder.container(keyedBy: MemberName.self).allKeys
        where !CodingKeys.allCases.contains(where: { $0.rawValue == name.stringValue }) {
            let known = CodingKeys.allCases.map(\.rawValue).joined(separator: ", ")
            throw PolicyError(
                .unknownMember,
                "a policy has no member '\(name.stringValue.prefix(80))'; the members are \(known)"
            )
        }
        let members = try decoder.container(keyedBy: CodingKeys.self)
        func value<Value: Decodable>(_ member: CodingKeys, _ expected: String) throws -> Value? {
            do {
                return try members.decodeIfPresent(Value.self, forKey: member)
            } catch {
                throw PolicyError(
                    .malformed,
                    "the policy's member '\(member.rawValue)' has a value of another type; "
                        + "expected \(expected)"
                )
            }
        }
        graceCounts = try value(.graceCounts, "true or false")
        familyCounts = try value(.familyCounts, "true or false")
        reversalIsRetroactive = try value(.reversalIsRetroactive, "true or false")
        refundIsRetroactive = try value(.refundIsRetroactive, "true or false")
        catalogVersion = try value(.catalogVersion, "the number of a version, or 0 for no catalog")
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case graceCounts, familyCounts, reversalIsRetroactive, refundIsRetroactive
        case catalogVersion
    }

    private struct MemberName: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(stringValue: String) { self.stringValue = stringValue }

        init?(intValue: Int) { nil }
    }
}

extension PolicyDocument {
    /// What counts as access under it.
    public var policy: AccessPolicy {
        let current = AccessPolicy.current
        return AccessPolicy(
            graceCounts: graceCounts ?? current.graceCounts,
            familyCounts: familyCounts ?? current.familyCounts,
            reversalIsRetroactive: reversalIsRetroactive ?? current.reversalIsRetroactive,
            refundIsRetroactive: refundIsRetroactive ?? current.refundIsRetroactive
        )
    }

    /// What folds may use under it.
    ///
    /// - Parameter catalogs: Every version that was imported.
    /// - Returns: The policy, and the versions that count under it.
    /// - Throws: `unknownCatalog` for a version that was never imported.
    public func context(_ catalogs: CatalogHistory) throws(PolicyError) -> FoldContext {
        FoldContext(catalogs: try chosen(of: catalogs), policy: policy)
    }

    /// The policy as text that keeps its meaning even if a later version changes the defaults:
    /// every member, in a fixed order, without spaces; `catalogVersion` only if it is set.
    public var canonicalText: String {
        let policy = policy
        let version = catalogVersion.map { "\"catalogVersion\":\($0)," } ?? ""
        return "{\(version)\"familyCounts\":\(policy.familyCounts),"
            + "\"graceCounts\":\(policy.graceCounts),"
            + "\"refundIsRetroactive\":\(policy.refundIsRetroactive),"
            + "\"reversalIsRetroactive\":\(policy.reversalIsRetroactive)}"
    }

    private func chosen(of catalogs: CatalogHistory) throws(PolicyError) -> CatalogHistory {
        guard let version = catalogVersion else { return catalogs }
        let isThere = version == 0 || catalogs.versions.contains { $0.version == version }
        guard isThere else {
            let newest = catalogs.newestVersion
            throw PolicyError(
                .unknownCatalog,
                "the policy requires version \(version) of the catalog; "
                    + (newest == 0
                        ? "none was imported, so only 0 (no catalog) is possible"
                        : "the newest is \(newest), and 0 means no catalog")
                    + "; see `subledger catalog list`"
            )
        }
        return catalogs.imported(through: version)
    }
}
