#include "tests/engine/proof/proof_subject.h"

#include "analysis/command/compile_command.h"
#include "analysis/parse/translation_unit.h"
#include "tests/paths.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

namespace kernelskill::engine {

using namespace analysis;

EditedProgram::EditedProgram(const std::string& text) {
    static const auto toolchain = findToolchain({.cudaPath = std::nullopt, .ignoreToolkit = true});
    if (!toolchain) {
        ADD_FAILURE() << toolchain.error().describe();
        return;
    }
    const auto path = std::filesystem::path(paths::sourceFolder) / "examples" / "test.cu";
    original_.file = path.string();
    original_.text = text;
    original_.command = CompileCommands().inferred(path, paths::sourceFolder);
    auto unit = TranslationUnit::parse(path, text, original_.command, *toolchain);
    if (!unit) {
        ADD_FAILURE() << unit.error().describe();
        return;
    }
    unit_.emplace(std::move(*unit));
    original_.model = std::make_shared<const FileModel>(unit_->model());
}

ProgramSource EditedProgram::with(const std::string& text) {
    ProgramSource program = original_;
    program.text = text;
    program.model = nullptr;
    if (!unit_)
        return program;
    if (const auto parsed = unit_->reparse(text); !parsed)
        ADD_FAILURE() << parsed.error().describe();
    else
        program.model = std::make_shared<const FileModel>(unit_->model());
    return program;
}

bool hasErrors(const ProgramSource& program) {
    return program.model == nullptr || program.model->kernels.empty() ||
           std::ranges::any_of(program.model->diagnostics, [](const Diagnostic& diagnostic) {
               return diagnostic.severity == Severity::Error;
           });
}

Proof proofOf(const ProgramSource& before, const ProgramSource& after, std::string_view kernel,
              skills::Numerics numerics, const std::stop_token& stop) {
    if (before.model == nullptr || after.model == nullptr || before.model->kernels.empty()) {
        ADD_FAILURE() << "nothing to prove";
        return std::unexpected(Unproved{"no kernel"});
    }
    const std::string name =
        kernel.empty() ? before.model->kernels.front().qualifiedName : std::string(kernel);
    const KernelModel* original = kernelNamed(*before.model, name);
    const KernelModel* candidate = kernelNamed(*after.model, name);
    if (original == nullptr || candidate == nullptr)
        return std::unexpected(Unproved{"no kernel " + name});
    return prove({before, *original}, {after, *candidate}, numerics, stop);
}

Proof proofOf(const std::string& before, const std::string& after, skills::Numerics numerics) {
    EditedProgram program(before);
    const ProgramSource& original = program.original();
    const ProgramSource candidate = program.with(after);
    EXPECT_FALSE(hasErrors(original)) << before;
    EXPECT_FALSE(hasErrors(candidate)) << after;
    return proofOf(original, candidate, {}, numerics);
}

std::string describe(const Proof& proof) {
    return proof ? proof->sentence() : "unproved: " + proof.error().reason;
}

std::string replaced(std::string text, std::string_view from, std::string_view to) {
    const auto at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    if (at == std::string::npos)
        return text;
    EXPECT_EQ(text.find(from, at + 1), std::string::npos) << from;
    return text.replace(at, from.size(), to);
}

} // namespace kernelskill::engine
