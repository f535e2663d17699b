#include "analysis/parse/unseen_names.h"

#include "analysis/syntax/lexer.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <functional>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

namespace kernelskill::analysis {

namespace {

bool isUpper(char c) {
    return c >= 'A' && c <= 'Z';
}

bool isDigit(char c) {
    return c >= '0' && c <= '9';
}

bool soundsLikeCuda(std::string_view name) {
    constexpr auto prefixes = std::to_array<std::string_view>(
        {"CUBLAS", "CUDA",   "CUFFT",  "CURAND",   "CUSOLVER", "CUSPARSE", "NPP",
         "NVML",   "NVRTC",  "NVTX",   "Npp",      "__cuda",   "__nv",     "cublas",
         "cuda",   "cufft",  "curand", "cusolver", "cusparse", "nppGet",   "nppi",
         "npps",   "nvjpeg", "nvml",   "nvrtc",    "nvtx"});
    constexpr auto namespaces =
        std::to_array<std::string_view>({"cooperative_groups", "cub", "nvcuda", "thrust", "wmma"});
    if (std::ranges::any_of(prefixes, [&](std::string_view p) { return name.starts_with(p); }) ||
        std::ranges::find(namespaces, name) != namespaces.end())
        return true;
    const bool ofTheDriver = name.size() > 3 &&
                             (name.starts_with("cu") || name.starts_with("CU")) &&
                             (isUpper(name[2]) || name[2] == '_' || name.starts_with("CU"));
    // Names like __attribute__ belong to the language, and misspelled ones are errors. The prelude
    // has the names of half and bfloat16; if they are unknown, a header was not included.
    const bool intrinsic = name.size() > 3 && name.starts_with("__") && !isUpper(name[2]) &&
                           !name.ends_with("__") && !name.contains("half") &&
                           !name.contains("bfloat16");
    return ofTheDriver || intrinsic;
}

bool isKeyword(std::string_view word) {
    constexpr auto words = std::to_array<std::string_view>(
        {"auto", "bool", "char", "class", "const", "double", "enum", "float", "int", "long",
         "short", "signed", "static", "std", "struct", "template", "typename", "unsigned", "void"});
    static_assert(std::ranges::is_sorted(words));
    return std::ranges::binary_search(words, word);
}

/// The identifiers that a message quotes, except those after "did you mean".
std::vector<std::string> namesOf(std::string_view message) {
    message = message.substr(0, message.find("; did you mean"));
    std::vector<std::string> names;
    for (auto open = message.find('\''); open != std::string_view::npos;) {
        const auto close = message.find('\'', open + 1);
        if (close == std::string_view::npos)
            break;
        for (const Token& token : lex(message.substr(open + 1, close - open - 1)))
            if (token.kind == TokenKind::Identifier && !isKeyword(token.text))
                names.emplace_back(token.text);
        open = message.find('\'', close + 1);
    }
    return names;
}

std::string_view suggestionOf(std::string_view message) {
    constexpr std::string_view question = "did you mean '";
    const auto at = message.find(question);
    if (at == std::string_view::npos)
        return {};
    message.remove_prefix(at + question.size());
    return message.substr(0, message.find('\''));
}

/// Whether one letter is surplus, missing, wrong or swapped. Digits do not count: `__vabs2` and
/// `__vabs4` are two functions.
bool isSlipOf(std::string_view written, std::string_view meant) {
    if (written.size() > meant.size())
        std::swap(written, meant);
    if (meant.size() - written.size() > 1 || written == meant)
        return false;
    const auto begin =
        static_cast<std::size_t>(std::ranges::mismatch(written, meant).in1 - written.begin());
    std::string_view left = written.substr(begin);
    std::string_view right = meant.substr(begin);
    while (!left.empty() && left.back() == right.back()) {
        left.remove_suffix(1);
        right.remove_suffix(1);
    }
    if (std::ranges::any_of(left, isDigit) || std::ranges::any_of(right, isDigit))
        return false;
    return right.size() <= 1 ||
           (left.size() == 2 && right.size() == 2 && left[0] == right[1] && left[1] == right[0]);
}

bool isAboutAName(const Diagnostic& diagnostic) {
    constexpr auto codes = std::to_array<std::string_view>(
        {"undeclared-identifier", "unknown-type", "no-member", "no-matching-function",
         "no-matching-constructor", "include-not-found"});
    return std::ranges::find(codes, diagnostic.code) != codes.end() ||
           diagnostic.message.find("incomplete type") != std::string::npos ||
           diagnostic.message.find("undefined template") != std::string::npos;
}

bool isSyntax(const Diagnostic& diagnostic) {
    constexpr auto codes = std::to_array<std::string_view>(
        {"expected-semicolon", "expected-brace", "extraneous-brace", "unterminated"});
    return std::ranges::find(codes, diagnostic.code) != codes.end();
}

/// Whether it is a misspelling of a known name of CUDA.
bool isMisspelling(const Diagnostic& diagnostic) {
    const std::vector<std::string> names = namesOf(diagnostic.message);
    const std::string_view meant = suggestionOf(diagnostic.message);
    constexpr auto builtins = std::to_array<std::string_view>(
        {"blockDim", "blockIdx", "gridDim", "threadIdx", "warpSize"});
    if (names.empty() || meant.empty() || !isSlipOf(names.front(), meant))
        return false;
    return soundsLikeCuda(meant) || std::ranges::find(builtins, meant) != builtins.end() ||
           (diagnostic.code == "no-member" && names.size() > 1 && soundsLikeCuda(names[1]));
}

bool looksLikeMacro(std::string_view name) {
    return name.size() > 1 &&
           std::ranges::none_of(name, [](char c) { return c >= 'a' && c <= 'z'; }) &&
           std::ranges::any_of(name, isUpper);
}

/// The text between two of ; { } in the main file.
struct Statement {
    Span span;
    std::vector<std::string_view> names;
    std::vector<std::string_view> declared; ///< Names that it may declare.
};

bool mayDeclare(const Token* before) {
    return before != nullptr &&
           (before->kind == TokenKind::Identifier || before->text == "*" || before->text == "&" ||
            before->text == "&&" || before->text == ">") &&
           before->text != "return" && before->text != "case" && before->text != "sizeof";
}

std::vector<Statement> statementsOf(std::string_view text) {
    std::vector<Statement> statements(1);
    const Token* before = nullptr;
    const std::vector<Token> tokens = lex(text);
    for (const Token& token : tokens) {
        if (token.kind == TokenKind::Directive) {
            // `#define NAME ...` declares NAME by means of the following words.
            Statement directive{token.span, {}, {}};
            const std::vector<Token> words = lex(token.text.substr(token.text.find('#') + 1));
            for (const Token& word : words)
                if (word.kind == TokenKind::Identifier)
                    directive.names.push_back(word.text);
            if (words.size() > 1 && words[0].text == "define")
                directive.declared.push_back(words[1].text);
            statements.insert(statements.end() - 1, std::move(directive));
            continue;
        }
        Statement& current = statements.back();
        if (current.span.begin == current.span.end)
            current.span.begin = token.span.begin;
        current.span.end = token.span.end;
        if (token.kind == TokenKind::Identifier && !isKeyword(token.text)) {
            current.names.push_back(token.text);
            if (mayDeclare(before))
                current.declared.push_back(token.text);
        }
        before = &token;
        if (token.text == ";" || token.text == "{" || token.text == "}") {
            statements.emplace_back();
            before = nullptr;
        }
    }
    return statements;
}

/// The names that may depend on unseen declarations.
class Consequences {
public:
    Consequences(const SourceText& source, std::set<std::string, std::less<>> unseen)
        : statements_(statementsOf(source.text())), tainted_(std::move(unseen)) {
        for (std::size_t known = 0; known != tainted_.size();) {
            known = tainted_.size();
            for (const Statement& statement : statements_)
                if (mentions(statement))
                    tainted_.insert(statement.declared.begin(), statement.declared.end());
        }
    }

    [[nodiscard]] bool reach(const Diagnostic& diagnostic) const {
        const std::vector<std::string> names = namesOf(diagnostic.message);
        if (std::ranges::any_of(names, [&](const std::string& n) { return tainted_.contains(n); }))
            return true;
        return std::ranges::any_of(statements_, [&](const Statement& statement) {
            return statement.span.begin <= diagnostic.span.begin &&
                   diagnostic.span.begin <= statement.span.end && mentions(statement);
        });
    }

    /// Whether a macro of an unseen header may have caused a parse error.
    [[nodiscard]] bool mayHideAMacro(const Diagnostic& diagnostic) const {
        return std::ranges::any_of(statements_, [&](const Statement& statement) {
            return statement.span.begin <= diagnostic.span.begin &&
                   diagnostic.span.begin <= statement.span.end &&
                   std::ranges::any_of(statement.names, [&](std::string_view name) {
                       return looksLikeMacro(name) && !isDeclaredOutside(statement, name);
                   });
        });
    }

private:
    [[nodiscard]] bool isDeclaredOutside(const Statement& place, std::string_view name) const {
        return std::ranges::any_of(statements_, [&](const Statement& statement) {
            return &statement != &place &&
                   std::ranges::find(statement.declared, name) != statement.declared.end();
        });
    }

    [[nodiscard]] bool mentions(const Statement& statement) const {
        return std::ranges::any_of(statement.names,
                                   [&](std::string_view name) { return tainted_.contains(name); });
    }

    std::vector<Statement> statements_;
    std::set<std::string, std::less<>> tainted_;
};

/// The name of CUDA that `diagnostic` calls unknown, if the prelude may lack it. A name that the
/// prelude has is in a header that was not included.
std::optional<std::string> unknownToThePrelude(const Diagnostic& diagnostic,
                                               const std::function<const KnownNames&()>& known) {
    if (!isAboutAName(diagnostic) || isMisspelling(diagnostic) ||
        diagnostic.code == "include-not-found")
        return std::nullopt;
    const std::vector<std::string> names = namesOf(diagnostic.message);
    if (std::ranges::none_of(names, soundsLikeCuda))
        return std::nullopt;
    const KnownNames& inPrelude = known();
    const std::string& name = names.front();
    if (std::ranges::binary_search(inPrelude, name) ||
        std::ranges::any_of(inPrelude, [&](const std::string& other) {
            return other.size() > 4 && isSlipOf(name, other);
        }))
        return std::nullopt;
    return name;
}

void addWords(std::string_view text, KnownNames& words) {
    for (const Token& token : lex(text)) {
        if (token.kind == TokenKind::Identifier)
            words.emplace_back(token.text);
        else if (token.kind == TokenKind::Directive)
            addWords(token.text.substr(token.text.find('#') + 1), words);
    }
}

} // namespace

KnownNames namesInPrelude(const std::filesystem::path& preludeInclude) {
    namespace fs = std::filesystem;
    KnownNames words;
    std::error_code error;
    for (fs::recursive_directory_iterator it(preludeInclude, error), end; !error && it != end;
         it.increment(error)) {
        std::error_code kind;
        if (!it->is_regular_file(kind))
            continue;
        std::ifstream file(it->path(), std::ios::binary);
        addWords(std::string{std::istreambuf_iterator<char>(file), {}}, words);
    }
    std::ranges::sort(words);
    const auto repeated = std::ranges::unique(words);
    words.erase(repeated.begin(), repeated.end());
    return words;
}

void withholdUnseen(std::vector<Diagnostic>& diagnostics, const SourceText& source, Unseen unseen) {
    std::set<std::string, std::less<>> names;
    std::set<std::string> ofCuda;
    for (Diagnostic& diagnostic : diagnostics) {
        if (diagnostic.severity != Severity::Error)
            continue;
        const std::optional<std::string> cuda =
            unseen.known ? unknownToThePrelude(diagnostic, unseen.known) : std::nullopt;
        if (cuda) {
            names.insert(*cuda);
            if (!unseen.header && ofCuda.insert(*cuda).second) {
                diagnostic.severity = Severity::Information;
                diagnostic.origin = DiagnosticOrigin::Notice;
                diagnostic.code = "cuda-name-not-known";
                diagnostic.message = "'" + *cuda +
                                     "' is not known without the CUDA toolkit, which was not "
                                     "found; what uses it is not checked";
                diagnostic.fixIts.clear();
            }
        } else if (unseen.header && isAboutAName(diagnostic) && !isMisspelling(diagnostic) &&
                   diagnostic.code != "include-not-found") {
            std::ranges::move(namesOf(diagnostic.message), std::inserter(names, names.end()));
        }
    }
    if (names.empty() && !unseen.header)
        return;
    const Consequences consequences(source, std::move(names));
    std::erase_if(diagnostics, [&](const Diagnostic& diagnostic) {
        if (diagnostic.severity != Severity::Error || diagnostic.code == "include-not-found")
            return false;
        if (isMisspelling(diagnostic))
            return false;
        if (consequences.reach(diagnostic))
            return true;
        if (!unseen.header)
            return false;
        // A message at an include concerns a header, in which any name may be unseen.
        const bool inHeader = diagnostic.message.starts_with("in included file");
        return inHeader || isAboutAName(diagnostic) || consequences.mayHideAMacro(diagnostic) ||
               (diagnostic.code.ends_with("syntax-error") && !isSyntax(diagnostic));
    });
}

} // namespace kernelskill::analysis
