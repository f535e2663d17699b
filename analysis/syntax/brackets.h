/// The pairs of brackets in a text, found once for any number of questions.
#pragma once

#include "analysis/syntax/lexer.h"

#include <cstddef>
#include <optional>
#include <vector>

namespace kernelskill::analysis {

/// "(", "[" and "{" with what closes them. Each question takes constant time.
class Brackets {
public:
    Brackets() = default;
    explicit Brackets(const std::vector<Token>& tokens);

    /// The other bracket of the pair; nullopt where the token is none, or has no partner.
    [[nodiscard]] std::optional<std::size_t> partnerOf(std::size_t token) const;
    /// The bracket that opens the innermost pair around the token; a bracket is not inside its own.
    [[nodiscard]] std::optional<std::size_t> around(std::size_t token) const;

private:
    std::vector<std::size_t> partners_; ///< A token's own index: none.
    std::vector<std::size_t> around_;   ///< A token's own index: none.
};

} // namespace kernelskill::analysis
