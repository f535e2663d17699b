#include "tests/analysis/support/analyze.h"

#include "analysis/parse/translation_unit.h"
#include "tests/paths.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace kernelskill::analysis::testing {

Toolchain preludeToolchain() {
    Result<Toolchain> toolchain = findToolchain({.cudaPath = std::nullopt, .ignoreToolkit = true});
    if (!toolchain)
        throw std::runtime_error(toolchain.error().describe());
    return *toolchain;
}

FileModel analyze(const std::string& text, const std::string& name) {
    Result<FileModel> model = analyzeFile(name, text, CompileCommand{}, preludeToolchain());
    if (!model)
        throw std::runtime_error(model.error().describe());
    return *model;
}

std::string readFile(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::filesystem::path sourceDirectory() {
    return paths::sourceFolder;
}

std::vector<Diagnostic> errorsOf(const FileModel& model) {
    std::vector<Diagnostic> errors;
    std::ranges::copy_if(model.diagnostics, std::back_inserter(errors),
                         [](const Diagnostic& one) { return one.severity == Severity::Error; });
    return errors;
}

std::string textOf(const FileModel& model, Span span) {
    return std::string(model.source->slice(span));
}

const MemoryAccess& accessOf(const FileModel& model, const KernelModel& kernel,
                             std::string_view text) {
    for (const MemoryAccess& access : kernel.accesses)
        if (model.source->slice(kernel.body.expr(access.expression).span) == text)
            return access;
    throw std::runtime_error("no access " + std::string(text));
}

} // namespace kernelskill::analysis::testing
