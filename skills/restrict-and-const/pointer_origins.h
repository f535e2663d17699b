/// Where the pointers that host code passes to a kernel come from.
#pragma once

#include "skills/rewriting/code_map.h"

#include <optional>
#include <set>
#include <string>

namespace kernelskill::skills {

/// Follows initialisers and assignments of host locals, and the calls in the file of a host
/// function whose parameters are passed on. Conservative: two pointers that might share an origin
/// do.
class PointerOrigins {
public:
    PointerOrigins(const analysis::FileModel& file, const analysis::HostFunction& host);

    /// Name of an object that both arguments may point into; nullopt when there is none.
    [[nodiscard]] std::optional<std::string> commonOrigin(analysis::ExprId a,
                                                          analysis::ExprId b) const;

private:
    [[nodiscard]] std::set<std::string> originsOf(analysis::ExprId expr) const;
    void collect(analysis::ExprId expr, std::set<std::string>& origins,
                 std::set<analysis::VariableId>& visited) const;
    void collectVariable(analysis::VariableId variable, std::set<std::string>& origins,
                         std::set<analysis::VariableId>& visited) const;
    /// An argument that two parameters of this host function share in a call somewhere in the file.
    [[nodiscard]] std::optional<std::string> passedTogether(const std::set<std::string>& a,
                                                            const std::set<std::string>& b) const;

    const analysis::FileModel& file_;
    const analysis::HostFunction& host_;
    CodeMap code_;
};

} // namespace kernelskill::skills
