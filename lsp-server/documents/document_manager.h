/// The open documents, each with the worker that parses it.
#pragma once

#include "lsp-server/documents/document_worker.h"
#include "lsp-server/protocol/text_document.h"
#include "lsp-server/workspace/workspace.h"

#include <spdlog/fwd.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace kernelskill::lsp {

struct Document {
    std::string uri;
    std::filesystem::path path;
    int version = 0;
    std::shared_ptr<const analysis::SourceText> text;
    std::unique_ptr<DocumentWorker>
        worker;             ///< Null for a file that is not CUDA: its text is only an overlay.
    bool isTrusted = false; ///< As its latest parse was told.
};

/// The file of a document. One without a file (untitled:...) gets a name that no file has.
[[nodiscard]] std::filesystem::path pathOf(const std::string& uri);

/// Belongs to the loop's thread.
class DocumentManager {
public:
    DocumentManager(EventLoop& loop, WorkerPool& parsers, WorkerPool& background,
                    spdlog::logger& log, const Workspace& workspace,
                    DocumentWorker::Callbacks callbacks);

    void open(const TextDocumentItem& item);
    /// False when the document is not open: the change cannot be applied to anything.
    bool change(const DidChangeTextDocumentParams& params, PositionEncoding encoding);
    void close(const std::string& uri);

    [[nodiscard]] const Document* find(const std::string& uri) const;
    [[nodiscard]] const Document* findPath(const std::filesystem::path& path) const;
    [[nodiscard]] std::vector<const Document*> all() const;

    /// See DocumentWorker::whenCurrent; an InvalidParams error when the document is not open.
    void whenCurrent(const std::string& uri, DocumentWorker::SnapshotReader reader);

    /// Parses everything again with the workspace's present settings.
    void reloadAll();
    /// Parses again the documents that read one of `paths` (their compile command too if
    /// `commands`).
    void filesChanged(const std::vector<std::filesystem::path>& paths, bool commands);

private:
    void parse(Document& document, bool reload,
               DocumentWorker::Urgency urgency = DocumentWorker::Urgency::Typing);
    void parseReadersOf(const std::filesystem::path& path);
    /// Looks for includers again where `path`, which was opened, closed or saved, may have become
    /// one, or one more.
    void findIncludersAgain(const std::filesystem::path& path);
    /// Whether the text of `path` names the document's file.
    [[nodiscard]] bool mayInclude(const std::filesystem::path& path,
                                  const Document& document) const;
    [[nodiscard]] analysis::UnsavedFiles overlay(const Document& except) const;

    EventLoop& loop_;
    WorkerPool& parsers_;
    WorkerPool& background_;
    spdlog::logger& log_;
    const Workspace& workspace_;
    DocumentWorker::Callbacks callbacks_;
    std::map<std::string, Document> documents_;
};

} // namespace kernelskill::lsp
