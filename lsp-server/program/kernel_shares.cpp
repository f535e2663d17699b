#include "lsp-server/program/kernel_shares.h"

#include "analysis/source/files.h"
#include "analysis/syntax/lexer.h"
#include "engine/verification/kernel_changes.h"
#include "lsp-server/report/metric_text.h"

#include <spdlog/fmt/fmt.h>

#include <system_error>
#include <utility>

namespace kernelskill::lsp {

namespace fs = std::filesystem;

std::optional<TimeInProgram> KernelShares::of(const analysis::FileModel& model,
                                              const analysis::KernelModel& kernel) const {
    TimeInProgram all;
    for (const Kernel& each : kernels) {
        if (!engine::names(each.symbol, kernel))
            continue;
        all.share += each.time.share;
        all.nanoseconds += each.time.nanoseconds;
    }
    if (all.nanoseconds == 0 || !engine::holdsDefinition(tokens, model, kernel))
        return std::nullopt;
    return all;
}

std::map<fs::path, std::shared_ptr<const KernelShares>>
kernelSharesOf(const engine::ProgramProfile& profile, const std::string& program,
               const fs::path& root, fs::file_time_type built) {
    std::map<fs::path, KernelShares> files;
    for (const engine::KernelShare& kernel : profile.kernels) {
        if (!kernel.place)
            continue;
        const auto path = analysis::canonicalPath(root / kernel.place->file);
        files[path].kernels.push_back(
            {engine::kernelSymbol(kernel.times.symbol), {kernel.share, kernel.times.total}});
    }
    std::map<fs::path, std::shared_ptr<const KernelShares>> result;
    for (auto& [path, shares] : files) {
        std::error_code error;
        const auto text = analysis::readFile(path);
        if (!text || fs::last_write_time(path, error) > built || error)
            continue;
        shares.program = program;
        shares.tokens = analysis::tokenText(*text);
        result[path] = std::make_shared<const KernelShares>(std::move(shares));
    }
    return result;
}

std::string timeInProgramText(const TimeInProgram& time, const std::string& program) {
    const double percent = 100 * time.share;
    const std::string share = percent >= 10   ? fmt::format("{:.0f}", percent)
                              : percent >= 1  ? fmt::format("{:.1f}", percent)
                              : percent >= .1 ? fmt::format("{:.2f}", percent)
                                              : std::string("less than 0.1");
    return fmt::format("{} % of GPU time, {} in {}", share,
                       durationText(static_cast<double>(time.nanoseconds) * 1e-3), program);
}

} // namespace kernelskill::lsp
