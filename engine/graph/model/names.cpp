#include "engine/graph/model/names.h"

#include "engine/graph/kernels/kernel_draft.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <set>

namespace kernelskill::engine::graph {

namespace {

/// Keywords, and functions and names that the text of kernels and launchers uses.
constexpr std::array<std::string_view, 112> reserved = {
    "abs",      "alignas",  "and",      "asm",       "atLeast",  "atMost",    "auto",
    "best",     "blockDim", "blockIdx", "blocks",    "bool",     "break",     "carry",
    "case",     "catch",    "char",     "class",     "combine",  "const",     "constexpr",
    "continue", "decltype", "default",  "delete",    "do",       "double",    "element",
    "elements", "else",     "enum",     "error",     "exp",      "explicit",  "export",
    "extern",   "false",    "first",    "float",     "for",      "forward",   "friend",
    "goto",     "gridDim",  "if",       "inline",    "inputs",   "int",       "j",
    "k",        "lane",     "larger",   "library",   "llabs",    "log",       "long",
    "main",     "max",      "memory",   "min",       "mutable",  "namespace", "new",
    "not",      "nullptr",  "operator", "or",        "outputs",  "parts",     "pow",
    "prepare",  "prepared", "private",  "protected", "public",   "register",  "result",
    "return",   "row",      "rows",     "short",     "signed",   "sizeof",    "sizes",
    "smaller",  "sqrt",     "static",   "status",    "std",      "stream",    "struct",
    "switch",   "tanh",     "template", "this",      "thread",   "threadIdx", "throw",
    "total",    "true",     "try",      "typedef",   "typename", "union",     "unsigned",
    "using",    "value",    "values",   "virtual",   "void",     "volatile",  "warp"};

bool isReserved(const std::string& name) {
    return std::ranges::find(reserved, name) != reserved.end();
}

} // namespace

std::string identifier(std::string_view text) {
    std::string name;
    for (const char c : text)
        name += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
    if (name.empty() || std::isdigit(static_cast<unsigned char>(name[0])) != 0)
        name.insert(0, "m");
    return isReserved(name) ? name + "_" : name;
}

void renameBuffers(analysis::raise::Program& program, const std::vector<std::string>& symbols) {
    std::set<std::string> taken(reserved.begin(), reserved.end());
    taken.insert(symbols.begin(), symbols.end());
    // Symbols are parameters beside them, and constants in kernels are t0, t1, ... and acc0, ...
    const auto isLikeAnother = [](const std::string& name) {
        const std::size_t digits = name.find_first_of("0123456789");
        if (digits == std::string::npos ||
            name.find_first_not_of("0123456789", digits) != std::string::npos)
            return false;
        const std::string word = name.substr(0, digits);
        return word == "t" || word == "acc" || word == "s" || word == "i" || word == "r" ||
               word == "k" || word == "c" || word == "result" || word == "best" || word == "value";
    };
    for (analysis::raise::Buffer& buffer : program.buffers) {
        const std::string wanted = identifier(buffer.name);
        buffer.name = freshName(isLikeAnother(wanted) ? wanted + "_" : wanted, taken);
    }
}

void renameComputations(analysis::raise::Program& program) {
    std::set<std::string> taken;
    for (analysis::raise::Step& step : program.steps)
        if (auto* computation = std::get_if<analysis::raise::Computation>(&step))
            computation->name = freshName(identifier(computation->name), taken);
}

} // namespace kernelskill::engine::graph
