import Projections

/// The version of a projection's fold in this program; 0 if there is no projection of that name.
package func foldVersion(of name: String) -> Int {
    allProjections.first { $0.name == name }?.version ?? 0
}
