#include "lsp-server/features/memory.h"

#include "analysis/source/json.h"
#include "engine/memory/short_term_memory.h"
#include "lsp-server/report/json_report.h"

namespace kernelskill::lsp {

Result<nlohmann::json> memoryReport(const std::filesystem::path& workspaceRoot,
                                    const std::filesystem::path& file) {
    const auto contents = engine::ShortTermMemory(workspaceRoot, file).read();
    if (!contents)
        return std::unexpected(contents.error());
    return nlohmann::json{{"file", file.string()},
                          {"entries", memoryJson(contents->entries)},
                          {"problems", contents->problems}};
}

} // namespace kernelskill::lsp
