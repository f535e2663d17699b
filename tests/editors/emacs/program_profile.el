;;; program_profile.el --- The list of a program's kernels by their time  -*- lexical-binding: t -*-

;;; Commentary:

;; The program runs on the stand-in of driver and CUPTI that runs kernels on the host (tests/engine/capture/fake_gpu),
;; where a launch takes 10 ns a thread.

;;; Code:

(add-to-list 'load-path (expand-file-name "editors/emacs" main-job-root))
(require 'kernelskill-program)

(defconst program-profile-gpu
  (expand-file-name "../tests/engine/capture/fake_gpu"
                    (file-name-directory (executable-find "kernelskill")))
  "The folder of the stand-in, if it was built.")

(defconst program-profile-source "\
__global__ void hot(float* x) {
    x[blockIdx.x * blockDim.x + threadIdx.x] = 1;
}

__global__ void cold(float* x) {
    x[blockIdx.x * blockDim.x + threadIdx.x] = 2;
}

int main() {
    float* x;
    cudaMalloc(&x, 1 << 20);
    hot<<<64, 128>>>(x);
    for (int i = 0; i < 9; ++i)
        cold<<<1, 128>>>(x);
    cudaDeviceSynchronize();
}
")

(defun program-profile-write (file text)
  "Write TEXT to FILE, in a folder that is made."
  (make-directory (file-name-directory file) t)
  (write-region text nil file nil 'silent))

(defun program-profile-open (build)
  "Visit a file of a project whose program is built by BUILD, with a server."
  (let ((project (file-name-as-directory
                  (make-temp-file (expand-file-name "project" main-job-scratch) t)))
        (toolkit (make-temp-file (expand-file-name "toolkit" main-job-scratch) t)))
    (program-profile-write (expand-file-name "include/cuda_runtime.h" toolkit) "")
    (make-directory (expand-file-name "lib64" toolkit))
    (make-symbolic-link (expand-file-name "libcupti.so.13" program-profile-gpu)
                        (expand-file-name "lib64/libcupti.so" toolkit))
    (make-directory (expand-file-name ".git" project))
    (program-profile-write (expand-file-name "src/a.cu" project) program-profile-source)
    (program-profile-write
     (expand-file-name ".kernelskill/programs.json" project)
     (json-serialize `(:small (:command "./small" :build ,build
                               :environment (:LD_LIBRARY_PATH ,program-profile-gpu)))))
    (setf (alist-get 'cuda-mode eglot-server-programs)
          `("kernelskill" "lsp" :initializationOptions
            (:trusted t :parse (:cudaPath ,toolkit) :gpu (:enabled :json-false)
             :profile (:programOnSave t))))
    (find-file (expand-file-name "src/a.cu" project))
    (run-hooks 'post-command-hook) ; where eglot-ensure connects
    (main-job-wait-for "the server" 30 #'eglot-managed-p)))

(defmacro program-profile-with (build &rest body)
  "Visit a file of a project whose program is built by BUILD, and run BODY."
  (declare (indent 1))
  `(let ((programs eglot-server-programs))
     (unless (file-executable-p (expand-file-name "fake-nvcc" program-profile-gpu))
       (ert-skip "no stand-in of a GPU"))
     (unwind-protect
         (progn
           (program-profile-open ,build)
           (let ((visited (current-buffer)))
             (unwind-protect (progn ,@body)
               (when (get-buffer "*KernelSkill small*")
                 (kill-buffer "*KernelSkill small*"))
               (with-current-buffer visited
                 (eglot-shutdown (eglot-current-server))
                 (kill-buffer)))))
       (setq eglot-server-programs programs))))

(defun program-profile-build ()
  "The command that builds the program."
  (concat program-profile-gpu "/fake-nvcc src/a.cu small"))

(defun program-profile-rows ()
  "The kernels' lines of the current list."
  (seq-filter (lambda (line) (string-search "(float*)" line))
              (split-string (buffer-string) "\n" t)))

(defun program-profile-list ()
  "The buffer of the list, once it is there."
  (main-job-wait-for "the list" 60 (lambda () (get-buffer "*KernelSkill small*"))))

(defun program-profile-wait-for-message (text)
  "Wait until a message holds TEXT."
  (main-job-wait-for text 60
                     (lambda ()
                       (with-current-buffer (messages-buffer)
                         (string-search text (buffer-string))))))

(ert-deftest a-program-is-listed-by-its-kernels-times ()
  (program-profile-with (program-profile-build)
    (kernelskill-profile-program t)
    (with-current-buffer (program-profile-list)
      (should (eq major-mode 'kernelskill-program-mode))
      (should (string-match-p "^ *87.7 % +8.11x +81.9 µs +1 .* hot(float\\*)  src/a.cu:1$"
                              (nth 0 (program-profile-rows))))
      (should (string-match-p "cold(float\\*)  src/a.cu:5$" (nth 1 (program-profile-rows))))
      (should (string-search "GPU 0: kernels"
                             (overlay-get kernelskill-program--notes 'after-string)))
      (should (= (overlay-end kernelskill-program--notes) (point-max))))))

(ert-deftest a-program-is-optimized ()
  (program-profile-with (program-profile-build)
    (kernelskill-optimize-program)
    (program-profile-wait-for-message "nothing is better than the original")))

(ert-deftest return-goes-to-the-line-of-a-kernel ()
  (program-profile-with (program-profile-build)
    (kernelskill-profile-program t)
    (with-current-buffer (program-profile-list)
      (goto-char (point-min))
      (search-forward "cold(float")
      (call-interactively (key-binding (kbd "RET"))))
    (with-current-buffer (window-buffer)
      (should (equal (file-name-nondirectory buffer-file-name) "a.cu"))
      (should (= (line-number-at-pos) 5)))
    (with-current-buffer (program-profile-list)
      (goto-char (point-max))
      (should-error (kernelskill-program-visit) :type 'user-error))))

(ert-deftest numbers-are-sorted-by-their-values ()
  (program-profile-with (program-profile-build)
    (kernelskill-profile-program t)
    (with-current-buffer (program-profile-list)
      (tabulated-list-sort 3) ; launches: 1 and 9
      (should (string-search "hot(" (nth 0 (program-profile-rows))))
      (tabulated-list-sort 0) ; 12.3 % and 87.7 %
      (should (string-search "cold(" (nth 0 (program-profile-rows))))
      (tabulated-list-sort 0)
      (should (string-search "hot(" (nth 0 (program-profile-rows))))
      (should (= (overlay-end kernelskill-program--notes) (point-max))))))

(ert-deftest the-next-profile-says-what-has-changed ()
  (program-profile-with (program-profile-build)
    (kernelskill-profile-program t)
    (with-current-buffer (program-profile-list)
      (call-interactively (key-binding (kbd "g")))
      (main-job-wait-for
       "changes" 60
       (lambda ()
         (string-search "Since the last profile:"
                        (overlay-get kernelskill-program--notes 'after-string)))))))

(defun program-profile-save (before after)
  "Replace BEFORE by AFTER in the source, and save it."
  (goto-char (point-min))
  (search-forward before)
  (replace-match after)
  (save-buffer))

(ert-deftest a-save-changes-the-list ()
  (program-profile-with (program-profile-build)
    (kernelskill-profile-program t)
    (program-profile-list)
    (program-profile-save "hot<<<64" "hot<<<32")
    (program-profile-wait-for-message "small: 2 kernels: 2 unsure") ; of one run before
    (program-profile-save "hot<<<32" "hot<<<16")
    (program-profile-wait-for-message "small: 2 kernels: 1 faster, 1 same; hot: 2.00 times")
    (with-current-buffer (program-profile-list)
      (should (string-search " 20.5 µs " (nth 0 (program-profile-rows)))))))

(ert-deftest profiles-are-shown-in-one-way ()
  (program-profile-with (program-profile-build)
    (with-current-buffer (messages-buffer)
      (let ((inhibit-read-only t)) (erase-buffer)))
    (kernelskill-profile-program t)
    (program-profile-list)
    (with-current-buffer (messages-buffer)
      (should-not (string-search "Server reports" (buffer-string))))))

(ert-deftest a-build-that-fails-is-said ()
  (program-profile-with "false"
    (kernelskill-profile-program t)
    (program-profile-wait-for-message "KernelSkill: the build ended with status 1")
    (should-not (get-buffer "*KernelSkill small*"))))

;;; program_profile.el ends here
