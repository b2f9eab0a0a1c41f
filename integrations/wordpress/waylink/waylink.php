<?php
/**
 * Plugin Name: Waylink
 * Description: Tells Waylink which link or ad a visitor came by, once the visitor agrees.
 * Version: 1.0.0
 * Requires at least: 5.7
 * Requires PHP: 7.4
 * License: MIT
 */

defined( 'ABSPATH' ) || exit;

// What Settings > General asks for.
const WAYLINK_SETTINGS = array(
	'waylink_script'  => 'Waylink: address of the script',
	'waylink_api_key' => 'Waylink: web key',
);
// Optimizers leave a tag with these alone: Cloudflare's Rocket Loader (which wants its own before `src`), LiteSpeed,
// Autoptimize, PageSpeed; and Cookiebot does not hold it back.
const WAYLINK_AS_IT_IS = array(
	'data-cfasync'            => 'false',
	'data-no-optimize'        => '1',
	'data-no-defer'           => '1',
	'data-noptimize'          => '1',
	'data-pagespeed-no-defer' => true,
	'data-cookieconsent'      => 'ignore',
);
// The filters of WP Rocket and SiteGround's optimizer that take patterns of scripts to leave alone.
const WAYLINK_EXCLUDING_FILTERS = array(
	'rocket_delay_js_exclusions',
	'rocket_exclude_js',
	'rocket_exclude_defer_js',
	'rocket_defer_inline_exclusions',
	'rocket_minify_excluded_external_js',
	'rocket_excluded_inline_js_content',
	'sgo_javascript_combine_excluded_external_paths',
	'sgo_javascript_combine_excluded_internal_paths',
	'sgo_javascript_combine_excluded_inline_content',
);

add_action(
	'admin_init',
	function () {
		foreach ( WAYLINK_SETTINGS as $name => $label ) {
			register_setting( 'general', $name, array( 'sanitize_callback' => 'sanitize_text_field' ) );
			$field = function () use ( $name ) {
				printf( '<input id="%1$s" name="%1$s" class="regular-text" value="%2$s">', esc_attr( $name ), esc_attr( get_option( $name ) ) );
			};
			add_settings_field( $name, esc_html( $label ), $field, 'general', 'default', array( 'label_for' => $name ) );
		}
	}
);

add_action(
	'wp_head',
	function () {
		$script  = get_option( 'waylink_script' );
		$api_key = get_option( 'waylink_api_key' );
		if ( ! $script || ! $api_key ) {
			return;
		}
		// The options of `Waylink.init`, which a site can change.
		$options = apply_filters( 'waylink_options', array( 'apiKey' => $api_key, 'baseUrl' => $script, 'consentMode' => 'required' ) );
		$code    = file_get_contents( __DIR__ . '/snippet.js' )
			. 'Waylink.init(' . wp_json_encode( $options, JSON_HEX_TAG ) . ");\n"
			. file_get_contents( __DIR__ . '/consent.js' );
		wp_print_inline_script_tag( $code, WAYLINK_AS_IT_IS );
		wp_print_script_tag( WAYLINK_AS_IT_IS + array( 'async' => true, 'src' => esc_url( $script ) ) );
	},
	1
);

foreach ( WAYLINK_EXCLUDING_FILTERS as $name ) {
	add_filter(
		$name,
		function ( $patterns ) {
			$address = preg_replace( '#^https?://#', '', (string) get_option( 'waylink_script' ) );
			return array_merge( (array) $patterns, array_filter( array( 'Waylink', $address ) ) );
		}
	);
}

add_filter( 'wp_consent_api_registered_' . plugin_basename( __FILE__ ), '__return_true' );
add_action(
	'init',
	function () {
		if ( function_exists( 'wp_add_cookie_info' ) ) {
			wp_add_cookie_info( 'cl_device_id', 'Waylink', 'statistics', '400 days', 'Tells which link or ad a visit and a sale came from' );
		}
	}
);
