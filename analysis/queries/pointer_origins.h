/// Where the pointers that host code passes to a kernel come from.
#pragma once

#include "analysis/queries/pointer_exchanges.h"
#include "analysis/queries/shared_analysis.h"

#include <optional>
#include <set>
#include <string>
#include <vector>

namespace kernelskill::analysis {

/// Follows initialisers and assignments of host locals, and the calls in the file of a host
/// function whose parameters are passed on. Conservative: two pointers that might share an origin
/// do. Two that are only exchanged do not share one for that.
class PointerOrigins {
public:
    /// `function` is an index into FileModel::hostFunctions. Keeps references to both.
    PointerOrigins(const FileModel& file, const SharedAnalysis& shared, std::uint32_t function);

    /// Name of an object that both arguments may point into; nullopt when there is none.
    [[nodiscard]] std::optional<std::string> commonOrigin(ExprId a, ExprId b) const;

private:
    using Call = std::vector<std::vector<Token>>;

    struct Collected {
        std::set<std::string> origins;
        std::set<VariableId> visited;
        std::set<ExprId> leftOut; ///< Assignments that are not followed.
    };

    [[nodiscard]] std::set<std::string> originsOf(ExprId expr,
                                                  const std::set<ExprId>& leftOut) const;
    void collect(ExprId expr, Collected& collected) const;
    void collectVariable(VariableId variable, Collected& collected) const;
    /// The assignments by which the function exchanges these two variables.
    [[nodiscard]] std::set<ExprId> exchangesOf(VariableId a, VariableId b) const;
    /// An argument that two parameters of this host function share in a call somewhere in the file.
    [[nodiscard]] std::optional<std::string> passedTogether(const std::set<std::string>& a,
                                                            const std::set<std::string>& b) const;

    /// The arguments of each call of the host function elsewhere in the file, and in the other
    /// files whose text is known.
    [[nodiscard]] std::vector<Call> callsInFiles() const;
    void addCalls(const std::string& file, const SourceText& source,
                  std::vector<Call>& calls) const;

    const FileModel& file_;
    const HostFunction& host_;
    const SourceText& source_; ///< That of the host function.
    const SharedAnalysis& shared_;
    const CodeMap& code_;
    std::vector<PointerExchange> exchanges_;
    std::vector<std::string> parameters_; ///< Names of the host function's.
    mutable std::optional<std::vector<Call>> calls_;
};

} // namespace kernelskill::analysis
