/// Proofs about texts: both are parsed as one file, before and after an edit.
#pragma once

#include "engine/proof/proof.h"

#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

namespace kernelskill::engine {

/// A file of the examples' folder, parsed in prelude mode. Fails the test on an error.
/// Other versions of it are parsed on the same unit, which takes a fraction of the time.
class EditedProgram {
public:
    explicit EditedProgram(const std::string& text);
    /// The program with another text.
    [[nodiscard]] ProgramSource with(const std::string& text);
    [[nodiscard]] const ProgramSource& original() const { return original_; }

private:
    ProgramSource original_;
    std::optional<analysis::TranslationUnit> unit_;
};

[[nodiscard]] bool hasErrors(const ProgramSource& program);

/// The proof for the kernel of that name; for the first one if it is empty.
[[nodiscard]] Proof proofOf(const ProgramSource& before, const ProgramSource& after,
                            std::string_view kernel = {},
                            skills::Numerics numerics = skills::Numerics::Exact,
                            const std::stop_token& stop = {});
[[nodiscard]] Proof proofOf(const std::string& before, const std::string& after,
                            skills::Numerics numerics = skills::Numerics::Exact);

/// "proved ..." or "unproved: ..."
[[nodiscard]] std::string describe(const Proof& proof);

/// `text` with `from`, which it holds once, replaced. Fails the test if it does not.
[[nodiscard]] std::string replaced(std::string text, std::string_view from, std::string_view to);

} // namespace kernelskill::engine
