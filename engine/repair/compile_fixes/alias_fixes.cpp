/// Fixes missing namespace aliases such as `namespace cg = cooperative_groups;`.
#include "engine/repair/compile_fixes/fix_candidate.h"
#include "engine/repair/compile_fixes/header_table.h"

#include <spdlog/fmt/fmt.h>

#include <string>

namespace kernelskill::engine {
namespace {

struct Alias {
    std::string_view name;
    std::string_view declaration;
    std::string_view header;
};

constexpr Alias aliases[] = {
    {"cg", "namespace cg = cooperative_groups;", "cooperative_groups.h"},
    {"wmma", "using namespace nvcuda;", "mma.h"},
    {"fs", "namespace fs = std::filesystem;", "filesystem"},
    {"thread_block", "using namespace cooperative_groups;", "cooperative_groups.h"},
    {"this_thread_block", "using namespace cooperative_groups;", "cooperative_groups.h"},
    {"tiled_partition", "using namespace cooperative_groups;", "cooperative_groups.h"},
    {"this_grid", "using namespace cooperative_groups;", "cooperative_groups.h"},
    {"grid_group", "using namespace cooperative_groups;", "cooperative_groups.h"},
};

} // namespace

std::vector<FixCandidate> aliasFixes(const RepairContext& context,
                                     const analysis::Diagnostic& error) {
    bool isUnknown = error.message.starts_with("use of undeclared identifier") ||
                     error.message.starts_with("unknown type name");
    auto name = quotedName(error.message);
    std::vector<FixCandidate> candidates;
    if (!isUnknown || !name)
        return candidates;
    for (const Alias& alias : aliases) {
        if (alias.name != *name)
            continue;
        bool isIncluded = context.text.find(alias.header) != std::string_view::npos;
        std::string text(alias.declaration);
        if (!isIncluded)
            text = fmt::format("#include <{}>\n{}", alias.header, alias.declaration);
        candidates.push_back(behindIncludes(context, "missing-alias", text,
                                            fmt::format("add '{}'", alias.declaration)));
    }
    return candidates;
}

} // namespace kernelskill::engine
