// `waylink/links` and `waylink/domains` give `init` an option, and export nothing.
export {};
