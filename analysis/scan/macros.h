/// The macros that a set of texts defines, in any branch of an #if.
#pragma once

#include "analysis/syntax/lexer.h"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace kernelskill::analysis {

struct Macro {
    std::string name;
    bool isFunctionLike = false;
    std::vector<std::string> parameters;
    std::string body;
};

/// A directive taken apart: "#define", "N", "1024".
struct DirectiveParts {
    std::string_view name;      ///< "define", "include", "if", …
    std::string_view remainder; ///< Text behind the name, trimmed.
};
[[nodiscard]] DirectiveParts directiveParts(std::string_view directive);

/// Name to definitions, in order of appearance.
class MacroTable {
public:
    void addDefinitionsOf(const std::vector<Token>& tokens);
    /// "NAME" or "NAME=VALUE", as a -D option spells it.
    void addOption(std::string_view definition);

    [[nodiscard]] bool contains(std::string_view name) const { return macros_.contains(name); }
    /// nullptr when there is none; the first definition where there are several.
    [[nodiscard]] const Macro* find(std::string_view name) const;
    [[nodiscard]] const std::vector<Macro>& all(std::string_view name) const;
    /// Whether `name` is one of `words` or a macro whose expansion names one of them.
    [[nodiscard]] bool names(std::string_view name,
                             const std::vector<std::string_view>& words) const;

private:
    std::map<std::string, std::vector<Macro>, std::less<>> macros_;
};

} // namespace kernelskill::analysis
